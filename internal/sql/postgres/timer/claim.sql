SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM pawl.timer_claim_rows(@owner, @lease, @most) t LEFT JOIN pawl.outbox_lane l ON l.id = t.lane ORDER BY t.at, t.id
