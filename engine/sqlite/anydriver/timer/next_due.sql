-- Microseconds until a timer is due or a lease runs out, or null. ?1 now. min of
-- two is null if one is, hence the detour.
SELECT min(at) - ?1 FROM (
  SELECT min(at) AS at FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0
  UNION ALL SELECT min(locked_until) FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1)
