DELETE FROM pawl.outbox_done WHERE lo = @lo
