-- Lock the head of an ordering key until the transaction ends: then nothing behind it becomes
-- head. The update changes nothing; its lock is the one that outbox_order_release waits for. @head
-- is its position, null if the key has none. Returns 0, at once, where somebody holds it: he may
-- have deleted it, which no look shows that skips what is locked.
CREATE PROCEDURE pawl.outbox_order_head @lane bigint, @key nvarchar(510), @head bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @abort bit = CASE WHEN @@OPTIONS & 16384 = 16384 THEN 1 ELSE 0 END, @free int = 1, @try int = 0, @size int = DATALENGTH(@key);
DECLARE @id TABLE (id bigint NOT NULL);
SET XACT_ABORT OFF;
BEGIN TRY
WHILE @try < 2 AND NOT EXISTS (SELECT 1 FROM @id) -- where the first waited after all, another one is head
BEGIN
  SET @try = @try + 1;
  UPDATE pawl.outbox_order WITH (ROWLOCK, NOWAIT) SET head = 1 OUTPUT inserted.id INTO @id (id)
   WHERE lane = @lane AND "key" = @key AND size = @size AND head = 1;
END;
END TRY
BEGIN CATCH
IF @abort = 1 SET XACT_ABORT ON;
IF ERROR_NUMBER() <> 1222 THROW;
SET @free = 0;
END CATCH;
IF @abort = 1 SET XACT_ABORT ON;
SET @head = NULL;
SELECT @head = i.id FROM @id i;
RETURN @free;
END
