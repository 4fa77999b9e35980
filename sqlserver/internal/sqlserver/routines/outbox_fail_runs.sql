-- Fail runs, a JSON array with owner, lo, n, error, fingerprint, expired, cancelled and hold, for good, or end
-- them as expired or discarded, and count in joins what was taken, unless an ack in the same transaction is to do
-- that (@count 0; see outbox_ack_runs). The next messages with their ordering keys may be
-- claimed, unless hold keeps them waiting. Returns how many messages.
CREATE PROCEDURE pawl.outbox_fail_runs @runs nvarchar(max), @count bit = 1, @worker nvarchar(510) = NULL, @keep int = 5 AS
BEGIN
DECLARE @now datetime2(7), @got bigint, @spans nvarchar(max);
pawl.bad_table()
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, error, fingerprint, status, hold)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.error, x.fingerprint, CASE WHEN x.expired = 1 THEN 5 WHEN x.cancelled = 1 THEN 4 ELSE 3 END, coalesce(x.hold, 0)
  FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, error nvarchar(max), fingerprint nvarchar(400), expired bit, cancelled bit, hold bit) x;
pawl.take()
SET @now = SYSUTCDATETIME();
INSERT INTO @bad (id, status, retry, attempt, error, fingerprint)
SELECT t.lo + k.i, r.status, t.retry, CASE r.status WHEN 3 THEN t.retry + 1 END, r.error, r.fingerprint
  FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.numbers() k ON k.i < t.n;
pawl.exceptions()
UPDATE e SET failed_at = @now FROM @bad b INNER LOOP JOIN pawl.outbox_exception e WITH (FORCESEEK, ROWLOCK) ON e.id = b.id WHERE b.status = 4; -- as what was discarded later
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
IF EXISTS (SELECT 1 FROM @bad b WHERE EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = b.id))
BEGIN
  SET @spans = (SELECT t.lo, t.n FROM @taken t INNER JOIN @run r ON r.nr = t.nr WHERE r.hold = 0 ORDER BY t.lo FOR JSON PATH);
  IF @spans IS NOT NULL EXEC pawl.outbox_order_release @spans;
END;
IF @count = 1 AND EXISTS (SELECT 1 FROM @bad b INNER JOIN pawl.outbox_join_member m ON m.id = b.id WHERE m.status = 0)
BEGIN
  SET @spans = (SELECT t.lo, t.n FROM @taken t ORDER BY t.lo FOR JSON PATH);
  EXEC pawl.outbox_join_settle @spans;
END;
pawl.end_own()
RETURN @got;
END
