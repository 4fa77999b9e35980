-- cut_picked(lane, most)
-- Removes up to {most} messages of what is in @pick from ready, of {lane}: @cut, m of each run; the others go back.
DELETE FROM @pick WHERE lo IN (
  SELECT x.lo FROM (SELECT p.lo, SUM(p.n) OVER (ORDER BY p.at, p.lo ROWS UNBOUNDED PRECEDING) - p.n AS before FROM @pick p) x WHERE x.before >= {most});
DELETE r
OUTPUT deleted.at, deleted.lo, deleted.n, deleted.retry, deleted.suspect INTO @cut (at, lo, n, retry, suspect)
  FROM @pick p INNER LOOP JOIN pawl.outbox_ready r WITH (ROWLOCK, FORCESEEK) ON r.lane = {lane} AND r.at = p.at AND r.lo = p.lo;
UPDATE c SET m = CASE WHEN {most} - x.before < c.n THEN {most} - x.before ELSE c.n END
  FROM @cut c INNER JOIN (SELECT y.lo, SUM(y.n) OVER (ORDER BY y.at, y.lo ROWS UNBOUNDED PRECEDING) - y.n AS before FROM @cut y) x ON x.lo = c.lo;
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT {lane}, c.at, c.lo + c.m, c.n - c.m, c.retry, c.suspect FROM @cut c WHERE c.m < c.n;
