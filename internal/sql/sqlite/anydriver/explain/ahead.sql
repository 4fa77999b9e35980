-- It reads @look runs of the message's own lane, and as many of those that go first.
WITH mine AS MATERIALIZED (
  SELECT m.id, r.at, r.lo, l.queue, l.priority, l.id AS lane
    FROM pawl.outbox_message m CROSS JOIN pawl.outbox_ready r CROSS JOIN pawl.outbox_lane l
   WHERE m.id = @id AND pawl.covers(pawl.outbox_ready, r, m.id) AND l.id = r.lane)
SELECT coalesce(sum(n), 0) AS n, pawl.planned(min(at)) AS oldest, count(*) >= @look AS more FROM (
  SELECT * FROM (SELECT r.n, r.at FROM mine CROSS JOIN pawl.outbox_ready r WHERE r.lane = mine.lane AND r.at >= CASE WHEN mine.at <= pawl.at_once() THEN mine.at ELSE -9223372036854775808 END AND (r.at, r.lo) < (mine.at, mine.lo) LIMIT @look)
  UNION ALL
  SELECT * FROM (SELECT r.n, r.at FROM mine CROSS JOIN pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r
                  WHERE l.queue = mine.queue AND l.priority < mine.priority AND l.kind = 0 AND r.lane = l.id AND r.at <= @now LIMIT @look)
  UNION ALL
  SELECT mine.id - mine.lo, mine.at FROM mine WHERE mine.id > mine.lo)
