-- The lanes of a queue in order of priority. ?1 now, ?2 queue.
SELECT id, priority FROM pawl.outbox_lane WHERE queue = ?2 ORDER BY priority, id
