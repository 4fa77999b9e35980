-- Take a unique key for a message that is to be written, @id with @mid, in one transaction with it.
-- @carried is the position that a made id carries, or 0; @period in microseconds, 0 for none.
-- @earlier is null if the message is to be written; @at is when the one that it replaces was due.
-- Otherwise @earlier is the id of the message in its place, or its own if it is stored already. The
-- key's row is locked until the transaction ends, so that enqueues with one key take turns; no range
-- is, which would keep those with other keys waiting: the insert tells what a look cannot see.
CREATE PROCEDURE pawl.outbox_unique_take @key nvarchar(510), @id bigint, @mid uniqueidentifier, @carried bigint, @unbegun bit, @period bigint, @replace bit, @debounce bit,
  @due datetime2(7), @earlier uniqueidentifier OUTPUT, @at datetime2(7) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7), @held bigint, @other uniqueidentifier, @since datetime2(7), @lane bigint, @when datetime2(7), @lo bigint, @n bigint, @place int, @found bit, @got int, @ids nvarchar(60), @text nvarchar(100);
SELECT @earlier = NULL, @at = NULL;
WHILE 1 = 1
BEGIN
  SELECT @held = NULL, @now = SYSUTCDATETIME();
  SELECT @held = u.id, @other = u.message_id, @since = u.enqueued_at FROM pawl.outbox_unique u WITH (UPDLOCK, ROWLOCK) WHERE u."key" = @key AND u.size = DATALENGTH(@key);
  IF @held IS NULL
  BEGIN
    pawl.begin_insert()
    INSERT INTO pawl.outbox_unique ("key", id, message_id, enqueued_at, until)
    SELECT @key, @id, @mid, @now, CASE WHEN @period > 0 THEN pawl.plus(@now, @period) END;
    pawl.end_insert()
    IF @known = 1 CONTINUE;
    RETURN 0;
  END;
  IF EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id IN (@id, @carried) AND m.message_id = @mid)
    OR EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.message_id = @mid AND m.supplied = 1)
    OR EXISTS (SELECT 1 FROM pawl.timer t WHERE t.id = @carried AND t.timer_id = @mid AND t.status < 2)
  BEGIN
    SET @earlier = @mid; -- by an attempt whose outcome was unknown
    RETURN 0;
  END;
  SET @place = NULL; -- 1 ready, 2 claimed, 0 ended
  WHILE @place IS NULL -- it moves meanwhile
  BEGIN
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = r.lo, @n = r.n, @lane = r.lane, @when = r.at FROM pawl.outbox_ready r WITH (FORCESEEK) WHERE r.lo <= @held ORDER BY r.lo DESC;
    IF @lo + @n > @held
    BEGIN
      SET @place = 1;
      BREAK;
    END;
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = c.lo, @n = c.n FROM pawl.outbox_claimed c WHERE c.lo <= @held ORDER BY c.lo DESC;
    IF @lo + @n > @held
    BEGIN
      SET @place = 2;
      BREAK;
    END;
    SELECT @lo = NULL, @n = NULL;
    SELECT TOP (1) @lo = d.lo, @n = d.n FROM pawl.outbox_done d WHERE d.lo <= @held ORDER BY d.lo DESC;
    IF @lo + @n > @held SET @place = 0;
    IF EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = @held AND e.status >= 3) SET @place = 0;
    IF NOT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @held) SET @place = 0;
  END;
  SET @now = SYSUTCDATETIME();
  SET @found = CASE WHEN @period > 0 THEN CASE WHEN @since > pawl.minus(@now, @period) THEN 1 ELSE 0 END
    WHEN @place = 1 THEN 1 WHEN @place = 2 AND @unbegun = 0 THEN 1 ELSE 0 END;
  IF @found = 1 AND @place = 1 AND (@replace = 1 OR @debounce = 1 OR @unbegun = 1 AND @period = 0)
  BEGIN
    SET @n = NULL; -- claims pass it by until this transaction has ended
    SELECT @n = r.n FROM pawl.outbox_ready r WITH (UPDLOCK, ROWLOCK) WHERE r.lane = @lane AND r.at = @when AND r.lo = @lo;
    IF @n IS NULL OR @lo + @n <= @held CONTINUE;
  END;
  SET @ids = CONCAT(N'[', @held, N']');
  IF @found = 1 AND (@replace = 0 OR @place <> 1)
  BEGIN
    IF @debounce = 1 AND @place = 1 EXEC @got = pawl.outbox_reschedule @ids, @due;
    SET @earlier = @other;
    RETURN 0;
  END;
  IF @found = 1
  BEGIN
    SET @text = CONCAT(N'replaced by ', LOWER(CAST(@mid AS nvarchar(36))));
    EXEC @got = pawl.outbox_cancel @ids, @text;
    IF @debounce = 0 SET @at = pawl.planned(@when);
  END;
  UPDATE pawl.outbox_unique SET id = @id, message_id = @mid, enqueued_at = @now, until = CASE WHEN @period > 0 THEN pawl.plus(@now, @period) END WHERE "key" = @key AND size = DATALENGTH(@key);
  RETURN 0;
END;
END
