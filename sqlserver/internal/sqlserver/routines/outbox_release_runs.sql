-- Release runs, a JSON array with owner, lo, n, delay (microseconds) and unbegun: back to
-- ready without counting an attempt, at once or after a delay. unbegun: nobody began them,
-- so suspects stay suspects. Returns how many messages.
CREATE PROCEDURE pawl.outbox_release_runs @runs nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7), @got bigint;
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, delay, flag)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.delay, x.unbegun
  FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, delay bigint, unbegun bit) x;
pawl.take()
SET @now = SYSUTCDATETIME();
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT t.lane, CASE WHEN r.delay > 0 THEN pawl.plus(@now, r.delay) ELSE t.at END, t.lo, t.n, t.retry, CASE WHEN r.flag = 1 THEN t.suspect ELSE 0 END
  FROM @taken t INNER JOIN @run r ON r.nr = t.nr;
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
pawl.end_own()
RETURN @got;
END
