SELECT 1 AS due FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1 AND locked_until < @now LIMIT 1
