UPDATE pawl.timer SET status = 2, processed_at = @now, payload = ''
 WHERE id IN (SELECT id FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now ORDER BY at, id LIMIT @n)
