-- Due runs of a lane that are no suspects, oldest first. ?1 now, ?2 lane.
SELECT at, lo, n, retry FROM pawl.outbox_ready WHERE lane = ?2 AND at <= ?1 AND suspect = 0 ORDER BY at, lo
