UPDATE pawl.timer INDEXED BY pawl.timer_claimed SET status = 2, processed_at = @now, locked_until = NULL WHERE status = 1 AND owner = @owner AND timer_id = @timer_id
