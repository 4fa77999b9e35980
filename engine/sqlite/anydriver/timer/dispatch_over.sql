-- End the timers that became messages. Parameters as in dispatch_messages.
UPDATE pawl.timer SET status = 2, processed_at = ?1, payload = ''
 WHERE id IN (SELECT id FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 ORDER BY at, id LIMIT ?2)
