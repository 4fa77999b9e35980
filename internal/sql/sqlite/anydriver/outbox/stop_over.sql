DELETE FROM pawl.outbox_stopping AS s WHERE s.id = @id AND NOT pawl.stopping(s) RETURNING owner, reason
