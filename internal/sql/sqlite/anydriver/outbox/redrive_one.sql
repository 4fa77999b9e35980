UPDATE pawl.outbox_exception SET status = 0, retry_count = 0, next_attempt_at = @now, redrives = redrives + 1, updated_at = @now WHERE id = @id
