-- islands(nr, priority)
-- Merges what was taken of @cut where it is adjacent, and puts it under lease.
INSERT INTO @runs (nr, at, lo, n, retry, priority)
SELECT {nr}, MIN(s.at), MIN(s.lo), SUM(s.m), s.retry, {priority}
  FROM (SELECT c.at, c.lo, c.m, c.retry, c.lo - (SUM(c.m) OVER (PARTITION BY c.retry ORDER BY c.lo ROWS UNBOUNDED PRECEDING) - c.m) AS island FROM @cut c WHERE c.m > 0) s
 GROUP BY s.retry, s.island;
