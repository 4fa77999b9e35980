-- Microseconds until the next run of a queue is due that is no suspect, or null, as of a paused queue. ?1 now, ?2 queue.
SELECT min((SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect = 0 ORDER BY r.at LIMIT 1)) - ?1 FROM pawl.outbox_lane l
 WHERE l.queue = ?2 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = ?2)
