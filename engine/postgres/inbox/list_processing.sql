-- Messages being processed, by source and id; the index knows how long they
-- were not seen. $1 and $2 above this source and id, $3 how many, $4 for so long.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE status = 'Processing' AND last_seen_utc < clock_timestamp() - $4::interval AND (source, message_id) > ($1, $2) ORDER BY source, message_id LIMIT $3
