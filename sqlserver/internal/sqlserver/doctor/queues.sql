SELECT o.lane, coalesce(r.n, 0) AS n, coalesce(r.topic, N'') AS topic
  FROM pawl.outbox_orphans() o
 OUTER APPLY (
   SELECT SUM(f.n) AS n, MIN(m.topic) AS topic
     FROM (SELECT TOP (@look) x.lo, x.n FROM pawl.outbox_ready x WHERE x.lane = o.lane ORDER BY x.at, x.lo) f LEFT JOIN pawl.outbox_message m ON m.id = f.lo) r
 ORDER BY o.lane
