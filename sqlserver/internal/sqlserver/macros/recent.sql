-- recent(table, id, n, at)
-- The newest rows of each block of 4096 positions: see op.OutboxRecency. n is of table x.
-- Ids of messages that are enqueued through SQL are above 2^47.
SET NOCOUNT ON;
DECLARE @EACH bigint;
DECLARE @PART TABLE (lo bigint NOT NULL PRIMARY KEY, lowest bit NOT NULL);
INSERT INTO @PART (lo, lowest)
SELECT p.lo, p.lowest
  FROM (SELECT (t.id / 4096 - k.i) * 4096 AS lo, CASE WHEN k.i = @blocks - 1 THEN 1 ELSE 0 END AS lowest
          FROM (SELECT a.id FROM (SELECT TOP (1) y.{id} AS id FROM {table} y pawl.unlocked() WHERE y.{id} < 140737488355328 ORDER BY y.{id} DESC) a
                UNION ALL
                SELECT b.id FROM (SELECT TOP (1) y.{id} AS id FROM {table} y pawl.unlocked() WHERE y.{id} >= 140737488355328 ORDER BY y.{id} DESC) b) t
         CROSS JOIN pawl.numbers() k WHERE k.i < @blocks) p
 CROSS APPLY (SELECT TOP (1) y.{at} AS at FROM {table} y pawl.unlocked() WHERE y.{id} >= p.lo AND y.{id} < p.lo + 4096 ORDER BY y.{id} DESC) l
 WHERE l.at >= pawl.minus(@began, @since);
SELECT @EACH = @most / CASE WHEN COUNT(*) < 1 THEN 1 ELSE COUNT(*) END FROM @PART;
SELECT r.lo, r.n, r.at, p.lowest
  FROM @PART p
 CROSS APPLY (SELECT TOP (@EACH) x.{id} AS lo, CAST({n} AS bigint) AS n, x.{at} AS at FROM {table} x pawl.unlocked()
               WHERE x.{id} >= p.lo AND x.{id} < p.lo + 4096 ORDER BY x.{id} DESC) r
