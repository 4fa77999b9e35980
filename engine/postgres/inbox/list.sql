-- Messages by source and id. $1 and $2 above this source and id, $3 how many,
-- $4 status or null, $5 not seen for so long, or null.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE ($4::text IS NULL OR status = $4) AND ($5::interval IS NULL OR last_seen_utc < clock_timestamp() - $5) AND (source, message_id) > ($1, $2) ORDER BY source, message_id LIMIT $3
