SELECT 1 AS found FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now LIMIT 1
