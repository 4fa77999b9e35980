SELECT pawl.columns(j), EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = j.lane) AS lane_known, @now AS now
  FROM pawl.job j INDEXED BY pawl.job_due WHERE j.due_at <= @now AND j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at, j.id LIMIT @most
