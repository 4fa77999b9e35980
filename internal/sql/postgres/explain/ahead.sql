-- It reads one run after the other: for a join with a limit the planner may prefer to read
-- and sort all.
WITH mine AS (
  SELECT m.id, r.at, r.lo, l.queue, l.priority, l.id AS lane
    FROM pawl.outbox_message m JOIN pawl.run_of(pawl.outbox_ready, @id) r ON r.lo + r.n > m.id
    JOIN pawl.outbox_lane l ON l.id = r.lane
   WHERE m.id = @id),
lanes AS MATERIALIZED (
  SELECT l.id, CASE WHEN l.id = mine.lane THEN mine.at ELSE @now END AS at,
         CASE WHEN l.id = mine.lane THEN mine.lo ELSE 9223372036854775807 END AS lo,
         CASE WHEN l.id = mine.lane AND mine.at <= pawl.at_once() THEN mine.at ELSE '-infinity' END AS low -- of a key's messages those of the key
    FROM mine JOIN pawl.outbox_lane l ON l.queue = mine.queue AND l.priority <= mine.priority AND (l.id = mine.lane OR l.kind = 0 AND (mine.at > pawl.at_once() OR l.priority < mine.priority))
   ORDER BY l.priority),
look AS (
  (SELECT walk.n, walk.at FROM lanes, LATERAL (
     WITH RECURSIVE walk AS (
       (SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r WHERE r.lane = lanes.id AND r.at >= lanes.low AND (r.at, r.lo) < (lanes.at, lanes.lo) ORDER BY r.at, r.lo LIMIT 1)
       UNION ALL
       SELECT x.at, x.lo, x.n FROM walk w, LATERAL (
         SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r
          WHERE r.lane = lanes.id AND (r.at, r.lo) > (w.at, w.lo) AND (r.at, r.lo) < (lanes.at, lanes.lo) ORDER BY r.at, r.lo LIMIT 1) x)
     SELECT w.n, w.at FROM walk w) walk LIMIT @look)
  UNION ALL
  (SELECT (mine.id - mine.lo)::integer, mine.at FROM mine WHERE mine.id > mine.lo))
SELECT coalesce(sum(look.n), 0)::int8 AS n, pawl.planned(min(look.at)) AS oldest, count(*) >= @look AS more FROM look
