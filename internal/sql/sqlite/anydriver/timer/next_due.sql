-- min of two values is null if one is, hence the subquery.
SELECT min(at) - @now AS micros FROM (
  SELECT min(at) AS at FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0
  UNION ALL SELECT min(locked_until) FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1)
