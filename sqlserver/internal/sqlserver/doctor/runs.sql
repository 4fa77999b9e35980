SET NOCOUNT ON;
DECLARE @RUN TABLE (lo bigint NOT NULL, n bigint NOT NULL);
INSERT INTO @RUN (lo, n)
SELECT a.lo, a.n FROM (SELECT TOP (@sample) x.lo, x.n FROM pawl.outbox_ready x ORDER BY x.lo) a
UNION SELECT b.lo, b.n FROM (SELECT TOP (@sample) x.lo, x.n FROM pawl.outbox_ready x ORDER BY x.lo DESC) b
UNION SELECT c.lo, c.n FROM (SELECT TOP (@sample) x.lo, x.n FROM pawl.outbox_claimed x ORDER BY x.lo) c
UNION SELECT d.lo, d.n FROM (SELECT TOP (@sample) x.lo, x.n FROM pawl.outbox_claimed x ORDER BY x.lo DESC) d;
SELECT m.lo, m.missing
  FROM (SELECT f.lo, f.n - (SELECT COUNT_BIG(*) FROM pawl.outbox_message x WHERE x.id >= f.lo AND x.id < f.lo + f.n) AS missing
          FROM (SELECT r.lo, CASE WHEN r.n < @look THEN r.n ELSE @look END AS n FROM @RUN r) f) m
 WHERE m.missing > 0 ORDER BY m.lo pawl.limit(@most)
