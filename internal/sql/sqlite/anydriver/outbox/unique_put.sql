INSERT INTO pawl.outbox_unique (key, id, message_id, enqueued_at, until) VALUES (@key, @id, @message_id, @now, @until) ON CONFLICT (key) DO NOTHING
