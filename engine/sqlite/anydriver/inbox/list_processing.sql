-- Messages being processed, by source and id; the index knows how long they
-- were not seen. ?1 now, ?2 and ?3 above this source and id, ?4 how many, ?5 for so long.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE status = 'Processing' AND last_seen_utc < ?1 - ?5 AND (source, message_id) > (?2, ?3) ORDER BY source, message_id LIMIT ?4
