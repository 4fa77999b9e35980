-- Due suspects of a lane, oldest first. ?1 now, ?2 lane.
SELECT at, lo, n, retry, suspect FROM pawl.outbox_ready INDEXED BY pawl.outbox_ready_suspect
 WHERE lane = ?2 AND suspect > 0 AND at <= ?1 ORDER BY at, lo
