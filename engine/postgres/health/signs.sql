-- Signs that somebody works on a queue: whether anybody holds messages of it, and how
-- many microseconds ago one was finished, or null. It looks at the newest hundred runs
-- under lease, and as many that are done: a sign proves something, none proves nothing.
-- The lane comes by a subquery: a join, planned for a small table, reads a large one.
SELECT l.queue, bool_or(s.held), min(s.ago)::int8 FROM (
  SELECT c.lane, true AS held, NULL::numeric AS ago FROM (SELECT x.lane, x.locked_until FROM pawl.outbox_claim x ORDER BY x.lo DESC LIMIT 100) c WHERE c.locked_until > now()
  UNION ALL
  SELECT (SELECT m.lane FROM pawl.outbox_message m WHERE m.id = d.lo), false, extract(epoch FROM now() - d.processed_at) * 1000000.0
    FROM (SELECT x.lo, x.processed_at FROM pawl.outbox_done x ORDER BY x.lo DESC LIMIT 100) d) s
  JOIN pawl.outbox_lane l ON l.id = s.lane GROUP BY l.queue
