-- next_timer()
-- When a timer is due, or its claim ends: one without an end never, one without a beginning now.
(SELECT CASE WHEN isfinite(x.at) THEN x.at WHEN x.at < @now THEN @now END
  FROM (SELECT least((SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0), (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1)) AS at) x)
