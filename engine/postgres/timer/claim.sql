-- Take due timers under a lease. $1 owner, $2 lease, $3 how many.
SELECT t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error, coalesce(l.queue, ''), coalesce(l.priority, 0::smallint)
  FROM pawl.timer_claim_rows($1, $2, $3) t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane ORDER BY t.at, t.id
