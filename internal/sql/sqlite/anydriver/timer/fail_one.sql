UPDATE pawl.timer INDEXED BY pawl.timer_claimed SET status = 3, processed_at = @now, locked_until = NULL, last_error = coalesce(@error, last_error)
 WHERE status = 1 AND owner = @owner AND timer_id = @timer_id
