SELECT id, suspect FROM pawl.timer INDEXED BY pawl.timer_suspect WHERE status = 0 AND suspect > 0 AND at <= @now ORDER BY at, id LIMIT @most
