-- Take the timers in ?2, a list. ?1 now, ?3 owner, ?4 locked until, ?5 how many
-- suspects they are.
UPDATE pawl.timer SET status = 1, owner = ?3, claimed_at = ?1, locked_until = ?4, suspect = ?5 WHERE id IN (SELECT value FROM json_each(?2))
