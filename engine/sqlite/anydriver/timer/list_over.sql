-- Timers that are over, latest first. ?1 now, ?2 and ?3 before this time and
-- position, ?4 topic or null, ?5 how many, ?6 status.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0)
  FROM pawl.timer t INDEXED BY pawl.timer_over LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status >= 2 AND t.status = ?6 AND (t.processed_at, t.id) < (?2, ?3) AND (?4 IS NULL OR t.topic = ?4) ORDER BY t.processed_at DESC, t.id DESC LIMIT ?5
