-- Of the timers that ?2 holds those in ?3, a list: it may hold others from an
-- earlier claim. ?1 now.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0)
  FROM pawl.timer t INDEXED BY pawl.timer_claimed LEFT JOIN pawl.outbox_lane l ON l.id = t.lane WHERE t.status = 1 AND t.owner = ?2 AND t.id IN (SELECT value FROM json_each(?3)) ORDER BY t.at, t.id
