SELECT pawl.columns(l), pawl.paused(l.queue) AS paused
  FROM pawl.outbox_lane l ORDER BY l.queue, l.priority LIMIT @most
