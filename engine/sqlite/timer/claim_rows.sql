-- Take the due timers up to ?2 at and ?3 position. ?1 now, ?4 owner, ?5 locked until.
UPDATE pawl.timer INDEXED BY pawl.timer_pending SET status = 1, owner = ?4, claimed_at = ?1, locked_until = ?5 WHERE status = 0 AND (at, id) <= (?2, ?3)
