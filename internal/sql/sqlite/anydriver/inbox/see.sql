INSERT INTO pawl.inbox (source, message_id, hash, first_seen_utc, last_seen_utc) VALUES (@source, @message_id, @hash, @now, @now)
ON CONFLICT (source, message_id) DO UPDATE SET last_seen_utc = @now, deliveries = deliveries + 1,
  mismatches = mismatches + coalesce(hash <> excluded.hash, 0), hash = coalesce(hash, excluded.hash)
