-- recent(table, id, n, at)
-- The newest rows of each block of 4096 positions: see op.OutboxRecency. n is of table x.
-- Ids of messages that are enqueued through SQL are above 2^47.
WITH top AS MATERIALIZED (
  (SELECT y.{id} AS id FROM {table} y WHERE y.{id} < 140737488355328 ORDER BY y.{id} DESC LIMIT 1) UNION ALL
  (SELECT y.{id} FROM {table} y WHERE y.{id} >= 140737488355328 ORDER BY y.{id} DESC LIMIT 1)),
part AS MATERIALIZED (
  SELECT p.lo, p.lowest FROM (SELECT (top.id / 4096 - k) * 4096 AS lo, k = @blocks - 1 AS lowest FROM top, generate_series(0::int8, @blocks - 1) k) p
   WHERE (SELECT y.{at} FROM {table} y WHERE y.{id} >= p.lo AND y.{id} < p.lo + 4096 ORDER BY y.{id} DESC LIMIT 1) >= @now - @since)
SELECT r.lo, r.n, r.at, part.lowest
  FROM part, LATERAL (
    SELECT x.{id} AS lo, ({n})::int8 AS n, x.{at} AS at FROM {table} x
     WHERE x.{id} >= part.lo AND x.{id} < part.lo + 4096 ORDER BY x.{id} DESC LIMIT (SELECT @most / greatest(count(*), 1) FROM part)) r
