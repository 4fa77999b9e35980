SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM pawl.timer t WITH (INDEX (pending)) LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status = 0 AND pawl.after(t.at, t.id, @at, @id) AND (@topic IS NULL OR t.topic = @topic) ORDER BY t.at, t.id pawl.limit(@most)
