-- Of which queues how many messages are laid aside in lane ?2, in how many runs,
-- and since when the oldest waits; up to ?3 runs. ?1 now.
SELECT l.queue, sum(r.n), count(*), min(r.at)
  FROM (SELECT at, lo, n FROM pawl.outbox_ready WHERE lane = ?2 ORDER BY at, lo LIMIT ?3) r
  CROSS JOIN pawl.outbox_message m ON m.id = r.lo
  CROSS JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY l.queue
