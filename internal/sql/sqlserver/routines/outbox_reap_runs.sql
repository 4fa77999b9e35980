-- Put up to @most runs whose lease has run out back into ready. One of their
-- messages may have killed the worker, so they are suspects: see
-- outbox_claim_suspect_runs. Only one that was claimed alone as a suspect has failed an
-- attempt (D-12). Returns how many messages.
CREATE PROCEDURE pawl.outbox_reap_runs @most int, @keep int = 5 AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got bigint, @worker nvarchar(510);
pawl.bad_table()
DECLARE @pick TABLE (lo bigint NOT NULL PRIMARY KEY);
DECLARE @gone TABLE (lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, lane bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
pawl.begin_own()
INSERT INTO @pick (lo)
SELECT TOP (@most) c.lo FROM pawl.outbox_claimed c WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK) WHERE c.locked_until < @now ORDER BY c.lo;
DELETE FROM pawl.outbox_claimed WITH (ROWLOCK, FORCESEEK)
OUTPUT deleted.lo, deleted.n, deleted.lane, deleted.retry, deleted.suspect INTO @gone (lo, n, lane, retry, suspect)
 WHERE locked_until < @now AND lo IN (SELECT p.lo FROM @pick p);
INSERT INTO @bad (id, status, retry, attempt, at, error)
SELECT g.lo, 0, g.retry + 1, g.retry + 1, @now, N'lease expired' FROM @gone g WHERE g.suspect = 1 AND g.n = 1
UNION ALL
SELECT g.lo + k.i, 0, g.retry + 1, g.retry + 1, @now, N'lease expired' FROM @gone g INNER JOIN pawl.numbers() k ON k.i < g.n WHERE g.suspect = 1 AND g.n > 1;
pawl.exceptions()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT g.lane, @now, g.lo, g.n, g.retry + CASE WHEN g.suspect = 1 THEN 1 ELSE 0 END, CASE g.suspect WHEN 0 THEN 1000 ELSE (g.suspect + 1) / 2 END FROM @gone g;
SELECT @got = coalesce(SUM(g.n), 0) FROM @gone g;
pawl.end_own()
RETURN @got;
END
