SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM pawl.timer t WITH (INDEX (past)) LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status >= 2 AND t.status = @status AND pawl.before(t.processed_at, t.id, @at, @id) AND (@topic IS NULL OR t.topic = @topic)
 ORDER BY t.processed_at DESC, t.id DESC pawl.limit(@most)
