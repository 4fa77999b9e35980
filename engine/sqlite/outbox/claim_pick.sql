-- Due runs of a lane, oldest first. ?1 now, ?2 lane.
SELECT at, lo, n, retry FROM pawl.outbox_ready WHERE lane = ?2 AND at <= ?1 ORDER BY at, lo
