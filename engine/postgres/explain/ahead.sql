-- What is claimed before the due message at position $1: how many messages, the
-- time since when the first of them is due, and whether there may be more. It looks at
-- $2 runs of the message's lane and $2 of those that go first.
WITH mine AS (
  SELECT m.id, r.at, r.lo, l.queue, l.priority, l.id AS lane
    FROM pawl.outbox_message m JOIN pawl.outbox_lane l ON l.id = m.lane
    JOIN pawl.outbox_ready r ON r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id
   WHERE m.id = $1),
look AS (
  (SELECT r.n, r.at FROM mine, pawl.outbox_ready r WHERE r.lane = mine.lane AND r.at <= mine.at AND (r.at, r.lo) < (mine.at, mine.lo) ORDER BY r.at, r.lo LIMIT $2)
  UNION ALL
  (SELECT x.n, x.at FROM mine JOIN pawl.outbox_lane l ON l.queue = mine.queue AND l.priority < mine.priority,
     LATERAL (SELECT r.n, r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= clock_timestamp() ORDER BY r.at, r.lo LIMIT $2) x LIMIT $2)
  UNION ALL
  (SELECT (mine.id - mine.lo)::integer, mine.at FROM mine WHERE mine.id > mine.lo))
SELECT coalesce(sum(look.n), 0)::int8, min(look.at), count(*) >= $2 FROM look
