SELECT pawl.columns(l), pawl.paused(l.queue) AS paused
  FROM pawl.outbox_lane l WHERE @queues IS NULL OR l.queue IN (SELECT value FROM json_each(@queues)) ORDER BY l.queue, l.priority LIMIT @most
