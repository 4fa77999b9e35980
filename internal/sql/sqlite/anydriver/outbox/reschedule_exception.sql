UPDATE pawl.outbox_exception SET next_attempt_at = @at, updated_at = @now WHERE id = @id AND status = 0
