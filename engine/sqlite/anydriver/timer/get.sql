-- A timer. ?1 now, ?2 id, ?3 the position that it carries, or 0.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0)
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.id = coalesce((SELECT id FROM pawl.timer WHERE id = ?3 AND timer_id = ?2), (SELECT id FROM pawl.timer WHERE timer_id = ?2 AND supplied = 1))
