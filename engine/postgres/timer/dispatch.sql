-- Move up to $1 due timers into the outbox. Answers how many.
SELECT pawl.timer_dispatch($1)
