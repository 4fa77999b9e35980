-- Count claimed messages against a limit whose turn this transaction has (outbox_limit_room), or
-- against none if it is null. @runs is a JSON array with lo and n. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_limit_use @limit bigint, @runs nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @concurrency int, @rate int, @period bigint, @saved bigint, @ahead bigint, @used bigint, @next datetime2(7), @first datetime2(7), @now datetime2(7) = SYSUTCDATETIME();
DECLARE @run TABLE (lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL);
IF @limit IS NULL OR @runs IS NULL RETURN;
INSERT INTO @run (lo, n) SELECT x.lo, x.n FROM OPENJSON(@runs) WITH (lo bigint, n bigint) x;
SELECT @used = SUM(r.n) FROM @run r;
IF @used IS NULL RETURN;
SELECT @concurrency = l.concurrency, @rate = l.rate, @period = l.period, @saved = l.period * (l.burst - 1) / l.rate, @ahead = l.period * (l.burst + 1) / l.rate, @next = l.next_at FROM pawl.outbox_limit l WHERE l.seq = @limit;
IF @concurrency IS NOT NULL
  INSERT INTO pawl.outbox_limit_claim (of_limit, id)
  SELECT @limit, m.id FROM @run r INNER LOOP JOIN pawl.outbox_message m ON m.id >= r.lo AND m.id < r.lo + r.n
   WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit AND u.id = m.id);
IF @rate IS NULL RETURN;
pawl.limit_from()
SET @used = (@used * @period + @rate - 1) / @rate;
UPDATE pawl.outbox_limit WITH (ROWLOCK) SET next_at = pawl.plus(@first, @used) WHERE seq = @limit;
END
