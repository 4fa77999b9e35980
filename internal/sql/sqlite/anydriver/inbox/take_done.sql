INSERT INTO pawl.inbox (source, message_id, hash, first_seen_utc, last_seen_utc, status, attempts, processed_utc)
VALUES (@source, @message_id, @hash, @now, @now, 'Done', 1, @now)
ON CONFLICT (source, message_id) DO NOTHING
