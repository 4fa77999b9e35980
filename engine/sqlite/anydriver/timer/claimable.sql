-- Due timers that are no suspects, first due first. ?1 now, ?2 how many.
SELECT id FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 AND suspect = 0 ORDER BY at, id LIMIT ?2
