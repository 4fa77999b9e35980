-- Fail runs, a JSON array with owner, lo, n and error, for good, and count in joins what was
-- taken, unless an ack in the same transaction is to do that (@count 0; see
-- outbox_ack_runs). Returns how many messages.
CREATE PROCEDURE pawl.outbox_fail_runs @runs nvarchar(max), @count bit = 1 AS
BEGIN
DECLARE @now datetime2(7), @got bigint, @spans nvarchar(max);
DECLARE @bad TABLE (id bigint NOT NULL PRIMARY KEY, retry int NOT NULL, at datetime2(7), error nvarchar(max) COLLATE Latin1_General_100_BIN2);
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, error)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.error FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, error nvarchar(max)) x;
pawl.take()
SET @now = SYSUTCDATETIME();
INSERT INTO @bad (id, retry, error)
SELECT t.lo + k.i, t.retry, r.error FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.numbers() k ON k.i < t.n;
pawl.exceptions(3)
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
IF @count = 1 AND EXISTS (SELECT 1 FROM @bad b INNER JOIN pawl.outbox_join_member m ON m.id = b.id WHERE m.status = 0)
BEGIN
  SET @spans = (SELECT t.lo, t.n FROM @taken t ORDER BY t.lo FOR JSON PATH);
  EXEC pawl.outbox_join_settle @spans;
END;
pawl.end_own()
RETURN @got;
END
