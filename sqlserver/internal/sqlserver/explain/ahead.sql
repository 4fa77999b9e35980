WITH mine AS (
  SELECT m.id, r.at, r.lo, l.queue, l.priority, l.id AS lane
    FROM pawl.outbox_message m INNER JOIN pawl.outbox_ready r pawl.unlocked() ON pawl.covers(pawl.outbox_ready, r, m.id)
   INNER JOIN pawl.outbox_lane l ON l.id = r.lane
   WHERE m.id = @id),
lanes AS (
  SELECT l.id, l.priority, CASE WHEN l.id = mine.lane THEN mine.at ELSE @now END AS at, CASE WHEN l.id = mine.lane THEN mine.lo ELSE 9223372036854775807 END AS lo,
         CASE WHEN l.id = mine.lane AND mine.at < pawl.at_once() THEN mine.at ELSE '0001-01-01' END AS low -- of a key's messages those of the key
    FROM mine INNER JOIN pawl.outbox_lane l ON pawl.exactly(l.queue, mine.queue) AND l.priority <= mine.priority AND (l.id = mine.lane OR l.kind = 0 AND (mine.at >= pawl.at_once() OR l.priority < mine.priority))),
look AS (
  SELECT w.n, w.at FROM (
    SELECT TOP (@look) r.n, r.at FROM lanes
     CROSS APPLY (SELECT TOP (@look) x.n, x.at, x.lo FROM pawl.outbox_ready x pawl.unlocked() WHERE x.lane = lanes.id AND x.at >= lanes.low AND pawl.before(x.at, x.lo, lanes.at, lanes.lo) ORDER BY x.at, x.lo) r
     ORDER BY lanes.priority, r.at, r.lo) w
  UNION ALL
  SELECT mine.id - mine.lo, mine.at FROM mine WHERE mine.id > mine.lo)
SELECT coalesce(SUM(look.n), 0) AS n, pawl.planned(MIN(look.at)) AS oldest, CAST(CASE WHEN COUNT(*) >= @look THEN 1 ELSE 0 END AS bit) AS more FROM look
