-- The lanes of a queue in order of priority; none of a paused one. ?1 now, ?2 queue.
SELECT id, priority FROM pawl.outbox_lane
 WHERE queue = ?2 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = ?2) ORDER BY priority, id
