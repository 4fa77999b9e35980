-- Put claimed timers back for another attempt. $1 owner, $2 ids, $3 delay (null:
-- backoff), $4 error. Answers how many it held.
SELECT pawl.timer_abandon_rows($1, $2, $3, $4)
