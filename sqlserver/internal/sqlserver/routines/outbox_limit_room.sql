-- How many messages of a limit may be claimed now, @room: at most @most, or @most if there is no
-- limit. @limit is its seq, or null. Claims under one limit take turns. One that waits for longer
-- than @patience, milliseconds, gets none, and has no more @patience: the other may be part of a
-- transaction that does more. One without any would often get none while many processes claim.
-- Messages that are no longer claimed count no more. A look that passes locked runs by finds those
-- that may have ended; one that does not makes sure, without waiting: a run that somebody extends,
-- or is about to settle, is still claimed. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_limit_room @kind nvarchar(20), @name nvarchar(510), @most int, @patience int OUTPUT, @limit bigint OUTPUT, @room int OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @lock nvarchar(255), @free int, @found bit = 0, @concurrency int, @held int, @rate int, @period bigint, @saved bigint, @ahead bigint, @next datetime2(7), @first datetime2(7), @now datetime2(7), @from bigint, @upto bigint;
DECLARE @abort bit = CASE WHEN @@OPTIONS & 16384 = 16384 THEN 1 ELSE 0 END;
DECLARE @gone TABLE (id bigint NOT NULL PRIMARY KEY);
SELECT @limit = NULL, @room = @most, @free = 0;
SELECT @limit = l.seq FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = @kind AND pawl.exactly(l.name, @name);
IF @limit IS NULL AND @kind = N'topic' EXEC pawl.outbox_limit_of @name, @patience, @limit OUTPUT, @free OUTPUT;
IF @free >= 0 AND @limit IS NULL RETURN;
IF @free >= 0
BEGIN
  pawl.limit_turn(@limit, @patience)
END;
IF @free < 0
BEGIN
  SELECT @room = 0, @patience = 0; -- other claims have their turn
  RETURN;
END;
SELECT @found = 1, @concurrency = l.concurrency, @rate = l.rate, @period = l.period, @saved = l.period * (l.burst - 1) / l.rate, @ahead = l.period * (l.burst + 1) / l.rate, @next = l.next_at
  FROM pawl.outbox_limit l WHERE l.seq = @limit;
IF @found = 0
BEGIN
  SET @limit = NULL; -- removed meanwhile
  RETURN;
END;
IF @concurrency IS NOT NULL
BEGIN
  INSERT INTO @gone (id)
  SELECT TOP (1000) u.id FROM pawl.outbox_limit_claim u
   WHERE u.of_limit = @limit AND coalesce((SELECT TOP (1) c.lo + c.n FROM pawl.outbox_claimed c pawl.unlocked() WHERE c.lo <= u.id ORDER BY c.lo DESC), 0) <= u.id ORDER BY u.id;
  SELECT @from = MIN(g.id), @upto = MAX(g.id) FROM @gone g;
  SET XACT_ABORT OFF; -- or an error would end the transaction
  WHILE @from IS NOT NULL
  BEGIN
    BEGIN TRY
    DELETE FROM @gone
     WHERE id >= @from AND id <= @upto
       AND coalesce((SELECT TOP (1) c.lo + c.n FROM pawl.outbox_claimed c WITH (READCOMMITTEDLOCK, NOWAIT) WHERE c.lo <= id ORDER BY c.lo DESC), 0) > id;
    END TRY
    BEGIN CATCH
    IF @abort = 1 AND ERROR_NUMBER() <> 1222 SET XACT_ABORT ON;
    IF ERROR_NUMBER() <> 1222 THROW;
    IF @from < @upto
    BEGIN
      SET @upto = @from; -- one by one
      CONTINUE;
    END;
    DELETE FROM @gone WHERE id = @from;
    END CATCH;
    SELECT @from = MIN(g.id) FROM @gone g WHERE g.id > @upto;
    SET @upto = @from;
  END;
  IF @abort = 1 SET XACT_ABORT ON;
  DELETE FROM pawl.outbox_limit_claim WITH (ROWLOCK) WHERE of_limit = @limit AND id IN (SELECT g.id FROM @gone g);
  SELECT @held = COUNT(*) FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit;
  IF @concurrency - @held < @room SET @room = @concurrency - @held;
END;
IF @rate IS NOT NULL
BEGIN
  SET @now = SYSUTCDATETIME();
  pawl.limit_from()
  IF @first > @now
    SET @room = 0;
  ELSE
  BEGIN
    SET @saved = 1 + pawl.elapsed(@first, @now) * @rate / @period;
    IF @saved < @room SET @room = @saved;
  END;
END;
IF @room < 0 SET @room = 0;
END
