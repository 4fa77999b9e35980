SELECT pawl.columns(j), pawl.finite(j.next_time) AS next_time, EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = j.lane) AS lane_known, @now AS now
  FROM pawl.job j WHERE j.due_at <= (SELECT @now) AND j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at, j.id LIMIT @most
