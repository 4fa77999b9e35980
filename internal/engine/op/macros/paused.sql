-- paused(queue)
EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = {queue})
