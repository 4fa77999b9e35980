-- The first ?2 lanes, and whether their queues are paused. ?1 now.
SELECT l.id, l.queue, EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = l.queue)
  FROM pawl.outbox_lane l ORDER BY l.queue, l.priority LIMIT ?2
