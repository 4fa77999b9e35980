UPDATE pawl.outbox_message SET payload = x'', headers = NULL, correlation_id = NULL WHERE id = @id AND pawl.settled(@id)
