-- Mark claimed timers as fired. $1 owner, $2 ids. Answers how many it held.
SELECT pawl.timer_end_rows($1, $2, 2, NULL)
