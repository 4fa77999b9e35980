-- Put claimed timer ?3 of owner ?2 back after ?4 microseconds (null: backoff of
-- 1, 2, 4, … 60 s, D-14). ?1 now, ?5 error.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = ?1 + coalesce(?4, min(1 << min(retry_count, 6), 60) * 1000000), retry_count = retry_count + 1,
       suspect = 0, owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(?5, last_error)
 WHERE status = 1 AND owner = ?2 AND timer_id = ?3
