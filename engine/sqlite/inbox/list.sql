-- Messages by source and id. ?1 now, ?2 source or null, ?3 status or null, ?4 not
-- seen for so long, ?5 and ?6 above this source and id, ?7 how many.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox_base
 WHERE (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR status = ?3) AND (?4 IS NULL OR last_seen_utc < ?1 - ?4)
   AND (source, message_id) > (?5, ?6) ORDER BY source, message_id LIMIT ?7
