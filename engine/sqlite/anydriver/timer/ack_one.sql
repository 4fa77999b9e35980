-- Mark claimed timer ?3 of owner ?2 as done. ?1 now.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed SET status = 2, processed_at = ?1, locked_until = NULL WHERE status = 1 AND owner = ?2 AND timer_id = ?3
