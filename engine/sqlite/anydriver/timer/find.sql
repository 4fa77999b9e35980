-- The timer of key ?2 that has not fired yet. ?1 now.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0)
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane WHERE t.key = ?2 AND t.key IS NOT NULL AND t.status < 2
