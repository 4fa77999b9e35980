UPDATE pawl.outbox_exception SET last_error = @reason, fingerprint = NULL, failed_at = NULL WHERE id = @id
