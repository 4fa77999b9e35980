SELECT 1 AS found FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1 AND locked_until < @now LIMIT 1
