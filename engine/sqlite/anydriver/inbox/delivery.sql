-- Note a delivery. A hash that was missing is filled in. ?1 now, ?2 source, ?3 message id, ?4 hash.
INSERT INTO pawl.inbox (source, message_id, hash, first_seen_utc, last_seen_utc) VALUES (?2, ?3, ?4, ?1, ?1)
ON CONFLICT (source, message_id) DO UPDATE SET last_seen_utc = ?1, deliveries = deliveries + 1,
  mismatches = mismatches + coalesce(hash <> excluded.hash, 0), hash = coalesce(hash, excluded.hash)
