-- Has any lease of a timer run out? Asked without the write lock. ?1 now.
SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_claimed WHERE status = 1 AND locked_until < ?1 LIMIT 1
