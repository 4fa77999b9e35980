-- Abandon runs, a JSON array with owner, lo, n, delay (microseconds; null: backoff) and
-- error: back to ready with one more retry. Returns how many messages.
CREATE PROCEDURE pawl.outbox_abandon_runs @runs nvarchar(max), @worker nvarchar(510) = NULL, @keep int = 5 AS
BEGIN
DECLARE @now datetime2(7), @got bigint;
pawl.bad_table()
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, delay, error)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.delay, x.error
  FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, delay bigint, error nvarchar(max)) x;
pawl.take()
SET @now = SYSUTCDATETIME();
UPDATE t SET at = pawl.plus(@now, coalesce(r.delay, pawl.backoff(t.retry))) FROM @taken t INNER JOIN @run r ON r.nr = t.nr;
INSERT INTO @bad (id, status, retry, attempt, at, error)
SELECT t.lo + k.i, 0, t.retry + 1, t.retry + 1, t.at, r.error FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.numbers() k ON k.i < t.n;
pawl.exceptions()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry + 1 FROM @taken t;
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
pawl.end_own()
RETURN @got;
END
