SELECT pawl.elapsed(@now, MIN(f.at)) AS micros FROM (
  SELECT MIN(t.at) AS at FROM pawl.timer t pawl.unlocked() WHERE t.status = 0
  UNION ALL SELECT MIN(t.locked_until) FROM pawl.timer t pawl.unlocked() WHERE t.status = 1) f
