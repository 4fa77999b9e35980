SELECT m.topic, l.queue, COUNT_BIG(*) AS n
  FROM OPENJSON(@spans) WITH (lo bigint, n bigint) r
 CROSS APPLY (SELECT y.topic, y.lane FROM pawl.outbox_message y pawl.unlocked() WHERE y.id >= r.lo AND y.id < r.lo + r.n ORDER BY y.id OFFSET 0 ROWS) m
  LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY m.topic, l.queue
