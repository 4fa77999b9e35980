SELECT 1 FROM pawl.outbox_hold(@missed.id)
