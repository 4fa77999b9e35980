-- Put back what was claimed and whose lease has run out. ?1 now.
UPDATE pawl.timer INDEXED BY pawl.timer_claimed
   SET status = 0, at = ?1, retry_count = retry_count + 1, owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = 'lease expired'
 WHERE status = 1 AND locked_until < ?1
