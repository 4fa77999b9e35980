-- A timer that was claimed alone as a suspect has failed an attempt.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = @now, retry_count = retry_count + (suspect = 1), owner = NULL, claimed_at = NULL, locked_until = NULL,
       last_error = CASE suspect WHEN 1 THEN 'lease expired' ELSE last_error END,
       suspect = CASE suspect WHEN 0 THEN @suspects ELSE (suspect + 1) / 2 END
 WHERE status = 1 AND locked_until < @now
