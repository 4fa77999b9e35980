UPDATE pawl.outbox_unique SET id = @id, message_id = @message_id, enqueued_at = @now, until = @until WHERE key = @key
