SELECT CAST(CASE WHEN EXISTS (
    SELECT 1 FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (1) r.lo FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect > 0 AND r.at <= @now) s WHERE pawl.exactly(l.queue, @queue) AND l.kind IN (0, 3))
  AND NOT pawl.paused(@queue) THEN 1 ELSE 0 END AS bigint) AS n
