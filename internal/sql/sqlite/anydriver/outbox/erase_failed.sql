UPDATE pawl.outbox_exception SET status = 4, next_attempt_at = NULL, updated_at = @now WHERE id = @id AND status = 3
