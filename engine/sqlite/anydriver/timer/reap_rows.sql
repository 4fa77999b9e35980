-- Put back what was claimed and whose lease has run out, as suspects. One that was
-- claimed alone as a suspect has failed an attempt. ?1 now, ?2 with how many others
-- one may be claimed that expired for the first time.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = ?1, retry_count = retry_count + (suspect = 1), owner = NULL, claimed_at = NULL, locked_until = NULL,
       last_error = CASE suspect WHEN 1 THEN 'lease expired' ELSE last_error END,
       suspect = CASE suspect WHEN 0 THEN ?2 ELSE (suspect + 1) / 2 END
 WHERE status = 1 AND locked_until < ?1
