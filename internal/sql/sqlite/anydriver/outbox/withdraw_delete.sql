DELETE FROM pawl.outbox_ready WHERE lo = @lo
