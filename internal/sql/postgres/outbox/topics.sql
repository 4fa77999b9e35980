SELECT m.topic, l.queue, count(*)::int8 AS n
  FROM unnest(@spans.lo, @spans.n) r (lo, n)
 CROSS JOIN LATERAL (SELECT y.topic, y.lane FROM pawl.outbox_message y WHERE y.id >= r.lo AND y.id < r.lo + r.n OFFSET 0) m
  LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
 GROUP BY m.topic, l.queue
