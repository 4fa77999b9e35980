-- Timers that are over, latest first. $1 and $2 before this time and position,
-- $3 topic or null, $4 how many, $5 status.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0::smallint)
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status >= 2 AND t.status = $5 AND (t.processed_at, t.id) < ($1, $2) AND ($3::text IS NULL OR t.topic = $3) ORDER BY t.processed_at DESC, t.id DESC LIMIT $4
