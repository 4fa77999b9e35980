-- The same of one source, ?7, as far as the index goes.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE source = ?7 AND (?5 IS NULL OR status = ?5) AND (?6 IS NULL OR last_seen_utc < ?1 - ?6) AND (source, message_id) > (?2, ?3) ORDER BY source, message_id LIMIT ?4
