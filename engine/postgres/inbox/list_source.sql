-- The same of one source, $6, as far as the index goes.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox
 WHERE source = $6 AND ($4::text IS NULL OR status = $4) AND ($5::interval IS NULL OR last_seen_utc < clock_timestamp() - $5) AND (source, message_id) > ($1, $2) ORDER BY source, message_id LIMIT $3
