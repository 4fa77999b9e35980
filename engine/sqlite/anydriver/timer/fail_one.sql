-- Mark claimed timer ?3 of owner ?2 as failed for good. ?1 now, ?4 error.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed SET status = 3, processed_at = ?1, locked_until = NULL, last_error = coalesce(?4, last_error)
 WHERE status = 1 AND owner = ?2 AND timer_id = ?3
