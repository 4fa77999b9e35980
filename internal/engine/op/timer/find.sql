SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM pawl.timer t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane WHERE t."key" = @key AND t."key" IS NOT NULL AND t.status < 2
