-- Claimed timers, next first; there are never many. Parameters as in list_pending.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0)
  FROM pawl.timer t INDEXED BY pawl.timer_claimed LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status = 1 AND (t.at, t.id) > (?2, ?3) AND (?4 IS NULL OR t.topic = ?4) ORDER BY t.at, t.id LIMIT ?5
