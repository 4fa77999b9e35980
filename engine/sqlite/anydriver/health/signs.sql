-- Signs that somebody works on a queue: whether anybody holds messages of it, and how
-- many microseconds ago one was finished, or null. It looks at the newest hundred runs
-- under lease, and as many that are done: a sign proves something, none proves nothing.
-- ?1 now.
SELECT l.queue, max(s.held), min(s.ago) FROM (
  SELECT c.lane, 1 AS held, NULL AS ago FROM (SELECT lane, locked_until FROM pawl.outbox_claim ORDER BY lo DESC LIMIT 100) c WHERE c.locked_until > ?1
  UNION ALL
  SELECT (SELECT m.lane FROM pawl.outbox_message m WHERE m.id = d.lo), 0, ?1 - d.processed_at
    FROM (SELECT lo, processed_at FROM pawl.outbox_done ORDER BY lo DESC LIMIT 100) d) s
  JOIN pawl.outbox_lane l ON l.id = s.lane GROUP BY l.queue
