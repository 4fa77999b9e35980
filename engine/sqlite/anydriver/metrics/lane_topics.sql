-- The topics of the first ?6 messages of those runs, and since when the oldest of
-- each waits. ?1 now, ?2 lane, ?3 after, ?4 by, ?5 runs.
SELECT topic, count(*), min(at) FROM (
  SELECT m.topic, r.at FROM (
    SELECT at, lo, n FROM pawl.outbox_ready WHERE lane = ?2 AND at > ?3 AND at <= ?4 ORDER BY at, lo LIMIT ?5) r
  CROSS JOIN pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + r.n LIMIT ?6)
 GROUP BY topic
