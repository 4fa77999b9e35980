SELECT coalesce(sum(n), 0) AS n FROM (
  SELECT r.n FROM pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r WHERE l.queue = @queue AND r.lane = l.id AND r.at <= @now LIMIT @most)
