-- Is a suspect due, in a queue that is not paused? Asked without the write lock.
-- ?1 now, ?2 queue.
SELECT 1 FROM pawl.outbox_lane l
 WHERE l.queue = ?2 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r INDEXED BY pawl.outbox_ready_suspect WHERE r.lane = l.id AND r.suspect > 0 AND r.at <= ?1)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = ?2) LIMIT 1
