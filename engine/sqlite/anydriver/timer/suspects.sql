-- Due timers that are suspects, first due first, and together with how many others
-- each may be claimed. ?1 now, ?2 how many.
SELECT id, suspect FROM pawl.timer INDEXED BY pawl.timer_suspect WHERE status = 0 AND suspect > 0 AND at <= ?1 ORDER BY at, id LIMIT ?2
