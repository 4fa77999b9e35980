UPDATE pawl.outbox_exception SET status = 3, updated_at = failed_at, failed_at = NULL, discard_id = NULL WHERE id = @id
