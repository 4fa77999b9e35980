-- Signs that somebody works on a queue: whether anybody holds messages of it, and how
-- many microseconds ago one was finished, or null. It looks at the thousand newest
-- runs under lease and the hundred newest that are done: a sign proves something,
-- none proves nothing.
SELECT l.queue, bool_or(s.held), min(s.ago)::int8 FROM (
  SELECT c.lane, true AS held, NULL::numeric AS ago FROM (SELECT x.lane, x.locked_until FROM pawl.outbox_claim x ORDER BY x.lo DESC LIMIT 1000) c WHERE c.locked_until > now()
  UNION ALL
  SELECT m.lane, false, extract(epoch FROM now() - d.processed_at) * 1000000
    FROM (SELECT x.lo, x.processed_at FROM pawl.outbox_done x ORDER BY x.lo DESC LIMIT 100) d JOIN pawl.outbox_message m ON m.id = d.lo) s
  JOIN pawl.outbox_lane l ON l.id = s.lane GROUP BY l.queue
