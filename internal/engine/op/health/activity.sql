-- The lane is read by a subquery: a join is planned for a small table and reads a large one.
SELECT l.queue, pawl.truth(max(s.held) = 1) AS held, min(s.micros) AS micros FROM (
  SELECT c.lane, 1 AS held, NULL AS micros FROM (SELECT x.lane, x.locked_until FROM pawl.claim_table() x ORDER BY x.lo DESC pawl.limit(100)) c WHERE c.locked_until > @began
  UNION ALL
  SELECT (SELECT m.lane FROM pawl.outbox_message m WHERE m.id = d.lo), 0, pawl.elapsed(d.processed_at, @began)
    FROM (SELECT x.lo, x.processed_at FROM pawl.outbox_done x ORDER BY x.lo DESC pawl.limit(100)) d) s
  JOIN pawl.outbox_lane l ON l.id = s.lane GROUP BY l.queue
