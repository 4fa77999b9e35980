UPDATE pawl.outbox_exception SET status = 4, next_attempt_at = NULL, failed_at = updated_at, discard_id = @act, updated_at = @now WHERE id = @id
