-- Put up to @most runs whose lease has run out back into ready. One of their
-- messages may have killed the worker, so they are suspects: see
-- outbox_claim_queue_suspects. Only one that was claimed alone as a suspect has failed an
-- attempt (D-12). Ids whose messages were deleted from the table by hand are left out: nobody settles them,
-- and they would be claimed again and again. Returns how many messages.
CREATE PROCEDURE pawl.outbox_reap_runs @most int, @keep int = 5 AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got bigint, @worker nvarchar(510);
pawl.bad_table()
DECLARE @pick TABLE (lo bigint NOT NULL PRIMARY KEY);
DECLARE @gone TABLE (lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, lane bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
DECLARE @kept TABLE (lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, lane bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
pawl.at_most(@most)
-- Most of the time there is none: then nothing is locked for it.
IF NOT EXISTS (SELECT 1 FROM pawl.outbox_claimed c pawl.unlocked() WHERE c.locked_until < @now) RETURN 0;
pawl.begin_own()
INSERT INTO @pick (lo)
SELECT TOP (@most) c.lo FROM pawl.outbox_claimed c WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK) WHERE c.locked_until < @now ORDER BY c.lo;
DELETE c
OUTPUT deleted.lo, deleted.n, deleted.lane, deleted.retry, deleted.suspect INTO @gone (lo, n, lane, retry, suspect)
  FROM @pick p INNER LOOP JOIN pawl.outbox_claimed c WITH (ROWLOCK, FORCESEEK) ON c.lo = p.lo WHERE c.locked_until < @now;
INSERT INTO @kept (lo, n, lane, retry, suspect)
SELECT MIN(s.id), COUNT_BIG(*), MIN(s.lane), MIN(s.retry), MIN(s.suspect)
  FROM (SELECT g.lo, m.id, m.id - ROW_NUMBER() OVER (PARTITION BY g.lo ORDER BY m.id) AS island, g.lane, g.retry, g.suspect
          FROM @gone g INNER LOOP JOIN pawl.outbox_message m ON m.id >= g.lo AND m.id < g.lo + g.n) s
 GROUP BY s.lo, s.island;
INSERT INTO @bad (id, status, retry, attempt, at, error)
SELECT k.lo, 0, k.retry + 1, k.retry + 1, @now, N'lease expired' FROM @kept k WHERE k.suspect = 1 AND k.n = 1
UNION ALL
SELECT k.lo + i.i, 0, k.retry + 1, k.retry + 1, @now, N'lease expired' FROM @kept k INNER JOIN pawl.numbers() i ON i.i < k.n WHERE k.suspect = 1 AND k.n > 1;
pawl.exceptions()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT k.lane, @now, k.lo, k.n, k.retry + CASE WHEN k.suspect = 1 THEN 1 ELSE 0 END, CASE k.suspect WHEN 0 THEN 1000 ELSE (k.suspect + 1) / 2 END FROM @kept k;
SELECT @got = coalesce(SUM(g.n), 0) FROM @gone g;
pawl.end_own()
RETURN @got;
END
