WITH run AS (
  SELECT * FROM (SELECT TOP (@runs) r.lo, r.n FROM pawl.outbox_ready r pawl.unlocked() ORDER BY r.lo DESC) a
  UNION ALL SELECT * FROM (SELECT TOP (@runs) c.lo, c.n FROM pawl.outbox_claim c pawl.unlocked() ORDER BY c.lo DESC) b),
item AS (
  SELECT TOP (@messages) m.lane, m.topic, m.created_at, pawl.minute(m.created_at) AS minute FROM run r
   CROSS APPLY (SELECT y.lane, y.topic, y.created_at FROM pawl.outbox_message y pawl.unlocked() WHERE y.id >= r.lo AND y.id < r.lo + r.n) m ORDER BY r.lo DESC)
SELECT l.queue, m.topic, m.minute, COUNT_BIG(*) AS n, pawl.elapsed(MIN(m.created_at), @began) AS micros,
       CAST(CASE WHEN (SELECT COUNT_BIG(*) FROM run) >= @runs OR (SELECT COUNT_BIG(*) FROM item) >= @messages THEN 1 ELSE 0 END AS bit) AS more
  FROM item m JOIN pawl.outbox_lane l ON l.id = m.lane
 WHERE m.minute >= @from AND (@queue IS NULL OR l.queue = @queue) AND (@topic IS NULL OR m.topic = @topic)
 GROUP BY l.queue, m.topic, m.minute
