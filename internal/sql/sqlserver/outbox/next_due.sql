SELECT DATEDIFF_BIG(microsecond, @now, MIN(f.at)) AS micros
  FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect = 0 ORDER BY r.at) f
 WHERE pawl.exactly(l.queue, @queue) AND l.kind < 2 AND NOT pawl.paused(@queue)
