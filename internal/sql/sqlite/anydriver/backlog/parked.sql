SELECT l.queue, sum(r.n) AS n, count(*) AS runs, min(r.at) AS since
  FROM (SELECT at, lo, n FROM pawl.outbox_ready WHERE lane = @lane ORDER BY at, lo LIMIT @runs) r
  CROSS JOIN pawl.outbox_message m ON m.id = r.lo
  CROSS JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY l.queue
