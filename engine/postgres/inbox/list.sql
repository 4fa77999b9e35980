-- Messages by source and id. $1 source or null, $2 status or null, $3 not seen
-- for so long, $4 and $5 above this source and id, $6 how many.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE ($1::text IS NULL OR source = $1) AND ($2::text IS NULL OR status = $2) AND ($3::interval IS NULL OR last_seen_utc < clock_timestamp() - $3)
   AND (source, message_id) > ($4, $5) ORDER BY source, message_id LIMIT $6
