-- Take the first ?2 due timers. ?1 now, ?3 owner, ?4 locked until.
UPDATE pawl.timer SET status = 1, owner = ?3, claimed_at = ?1, locked_until = ?4
 WHERE id IN (SELECT id FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 ORDER BY at, id LIMIT ?2)
