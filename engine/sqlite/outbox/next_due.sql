-- Microseconds until the next run of a queue is due, or null. ?1 now, ?2 queue.
SELECT min((SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id)) - ?1 FROM pawl.outbox_lane l WHERE l.queue = ?2
