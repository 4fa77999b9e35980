SELECT pawl.columns(j), CAST(CASE WHEN EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = j.lane) THEN 1 ELSE 0 END AS bit) AS lane_known, @now AS now
  FROM pawl.job j pawl.unlocked() WHERE j.due_at <= @now AND j.due_at IS NOT NULL AND j.enabled = 1 ORDER BY j.due_at, j.id pawl.limit(@most)
