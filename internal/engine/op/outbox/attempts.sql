SELECT pawl.columns(a) FROM pawl.outbox_attempt a WHERE a.id = @id ORDER BY a.nr
