-- What is claimed before the due message at position ?2: how many messages, the
-- time since when the first of them is due, and whether there may be more. It looks at
-- ?3 runs of the message's lane and ?3 of those that go first. ?1 now.
WITH mine AS MATERIALIZED (
  SELECT m.id, r.at, r.lo, l.queue, l.priority, l.id AS lane
    FROM pawl.outbox_message m CROSS JOIN pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r
   WHERE m.id = ?2 AND l.id = m.lane AND r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id)
SELECT coalesce(sum(n), 0), min(at), count(*) >= ?3 FROM (
  SELECT * FROM (SELECT r.n, r.at FROM mine CROSS JOIN pawl.outbox_ready r WHERE r.lane = mine.lane AND (r.at, r.lo) < (mine.at, mine.lo) LIMIT ?3)
  UNION ALL
  SELECT * FROM (SELECT r.n, r.at FROM mine CROSS JOIN pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r
                  WHERE l.queue = mine.queue AND l.priority < mine.priority AND r.lane = l.id AND r.at <= ?1 LIMIT ?3)
  UNION ALL
  SELECT mine.id - mine.lo, mine.at FROM mine WHERE mine.id > mine.lo)
