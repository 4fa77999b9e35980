-- next_timer()
-- When a timer is due, or its claim ends.
(SELECT MIN(f.at) FROM (
  SELECT MIN(t.at) AS at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0
  UNION ALL SELECT MIN(t.locked_until) FROM pawl.timer t pawl.unlocked() WHERE t.status = 1) f)
