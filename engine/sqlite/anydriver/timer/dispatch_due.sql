-- Is any timer due? Asked without the write lock. ?1 now.
SELECT 1 FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 LIMIT 1
