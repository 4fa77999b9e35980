-- Put back what was claimed and whose lease has run out. Answers how many.
SELECT pawl.timer_reap()
