UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = @now + coalesce(@delay, pawl.backoff(retry_count) * 1000000), retry_count = retry_count + 1,
       suspect = 0, owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(@error, last_error)
 WHERE status = 1 AND owner = @owner AND timer_id = @timer_id
