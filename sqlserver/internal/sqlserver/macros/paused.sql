-- paused(queue)
EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = N'queue' AND pawl.exactly(p.name, {queue}))
