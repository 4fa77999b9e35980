-- Abandon runs, a JSON array with owner, lo, n, delay (microseconds; null: backoff), error, fingerprint,
-- yield and uncounted: back to ready with one more retry. yield: the next messages with their
-- ordering keys may be claimed; when the delay is over they come first among those that wait
-- then. uncounted: not one more, and no attempt is kept. Returns how many messages.
CREATE PROCEDURE pawl.outbox_abandon_runs @runs nvarchar(max), @worker nvarchar(510) = NULL, @keep int = 5 AS
BEGIN
DECLARE @now datetime2(7), @got bigint, @spans nvarchar(max);
pawl.bad_table()
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, delay, error, fingerprint, flag, uncounted)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.delay, x.error, x.fingerprint, coalesce(x.yield, 0), coalesce(x.uncounted, 0)
  FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, delay bigint, error nvarchar(max), fingerprint nvarchar(400), yield bit, uncounted bit) x;
pawl.take()
SET @now = SYSUTCDATETIME();
UPDATE t SET at = pawl.plus(@now, coalesce(r.delay, 1000000 * pawl.backoff(t.retry))) FROM @taken t INNER JOIN @run r ON r.nr = t.nr;
INSERT INTO @bad (id, status, retry, attempt, at, error, fingerprint)
SELECT t.lo + k.i, 0, CASE WHEN r.uncounted = 1 THEN t.retry ELSE t.retry + 1 END, CASE WHEN r.uncounted = 0 THEN t.retry + 1 END, t.at, r.error, r.fingerprint FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.numbers() k ON k.i < t.n;
pawl.exceptions()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, CASE WHEN r.uncounted = 1 THEN t.retry ELSE t.retry + 1 END FROM @taken t INNER JOIN @run r ON r.nr = t.nr WHERE r.flag = 0;
IF EXISTS (SELECT 1 FROM @run r WHERE r.flag = 1)
BEGIN
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
  SELECT m.lane, b.at, b.id, 1, b.retry FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN @bad b ON b.id >= t.lo AND b.id < t.lo + t.n
   INNER LOOP JOIN pawl.outbox_message m ON m.id = b.id WHERE r.flag = 1;
  SET @spans = (SELECT t.lo, t.n FROM @taken t INNER JOIN @run r ON r.nr = t.nr WHERE r.flag = 1 ORDER BY t.lo FOR JSON PATH);
  IF @spans IS NOT NULL EXEC pawl.outbox_order_release @spans;
END;
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
pawl.end_own()
RETURN @got;
END
