-- recent(table, id, n, at)
-- The newest rows of each block of 4096 positions: see op.OutboxRecency. n is of table x.
WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < @blocks - 1),
part AS MATERIALIZED (
  SELECT p.lo, p.lowest FROM (SELECT ((SELECT max(y.{id}) FROM {table} y) / 4096 - i) * 4096 AS lo, i = @blocks - 1 AS lowest FROM k) p
   WHERE (SELECT y.{at} FROM {table} y WHERE y.{id} >= p.lo AND y.{id} < p.lo + 4096 ORDER BY y.{id} DESC LIMIT 1) >= @now - @since)
SELECT x.{id} AS lo, {n} AS n, x.{at} AS at, p.lowest
  FROM part p CROSS JOIN {table} x
 WHERE x.{id} < p.lo + 4096 AND x.{id} >= coalesce(
   (SELECT y.{id} FROM {table} y WHERE y.{id} >= p.lo AND y.{id} < p.lo + 4096 ORDER BY y.{id} DESC LIMIT 1 OFFSET (SELECT @most / count(*) FROM part) - 1), p.lo)
