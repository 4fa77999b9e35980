-- ?2 source, ?3 message id.
SELECT source, message_id, hash, first_seen_utc, last_seen_utc, processed_utc, deliveries, attempts, mismatches, status, last_error, locked_until_utc
  FROM pawl.inbox WHERE source = ?2 AND message_id = ?3
