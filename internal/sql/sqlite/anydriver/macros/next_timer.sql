-- next_timer()
-- When a timer is due, or its claim ends. One from before 1970 was put there by others: its distance may be too large a number.
(SELECT max(0, min(at)) FROM (
  SELECT min(at) AS at FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0
  UNION ALL SELECT min(locked_until) FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1))
