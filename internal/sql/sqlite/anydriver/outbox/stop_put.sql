INSERT INTO pawl.outbox_stopping (id, reason, at) SELECT @id, @reason, @now WHERE pawl.holds(pawl.outbox_claim, @id)
ON CONFLICT DO UPDATE SET owner = NULL, reason = excluded.reason
