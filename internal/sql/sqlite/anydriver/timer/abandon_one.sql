-- The backoff is 1, 2, 4, … 60 s (D-14).
UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = @now + coalesce(@delay, min(1 << min(retry_count, 6), 60) * 1000000), retry_count = retry_count + 1,
       suspect = 0, owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(@error, last_error)
 WHERE status = 1 AND owner = @owner AND timer_id = @timer_id
