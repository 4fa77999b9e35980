-- Mark claimed timers as failed for good. $1 owner, $2 ids, $3 error. Answers how many it held.
SELECT pawl.timer_end_rows($1, $2, 3, $3)
