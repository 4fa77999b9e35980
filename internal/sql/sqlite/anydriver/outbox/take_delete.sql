DELETE FROM pawl.outbox_claim WHERE lo = @lo
