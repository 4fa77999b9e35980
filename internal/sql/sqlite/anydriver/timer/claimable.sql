SELECT id FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now AND suspect = 0 ORDER BY at, id LIMIT @most
