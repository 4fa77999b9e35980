-- Messages by source and id. ?1 now, ?2 and ?3 above this source and id, ?4 how many,
-- ?5 status or null, ?6 not seen for so long, or null.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE (?5 IS NULL OR status = ?5) AND (?6 IS NULL OR last_seen_utc < ?1 - ?6) AND (source, message_id) > (?2, ?3) ORDER BY source, message_id LIMIT ?4
