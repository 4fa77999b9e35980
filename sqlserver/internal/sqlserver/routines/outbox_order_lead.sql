-- The next message of an ordering key that has no head becomes its head, and may be claimed. For a
-- transaction that is open.
CREATE PROCEDURE pawl.outbox_order_lead @lane bigint, @key nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
DECLARE @queue nvarchar(510), @ready bigint, @size int = DATALENGTH(@key), @id bigint, @from bigint, @at datetime2(7);
SELECT @queue = l.queue FROM pawl.outbox_lane l WHERE l.id = @lane;
WHILE 1 = 1
BEGIN
  SELECT @id = NULL, @from = NULL;
  SELECT TOP (1) @id = o.id FROM pawl.outbox_order o WHERE o.lane = @lane AND o."key" = @key AND o.size = @size ORDER BY o.id;
  IF @id IS NULL BREAK;
  UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = 1 WHERE id = @id;
  IF @@ROWCOUNT = 0 CONTINUE; -- it was cancelled meanwhile
  EXEC pawl.outbox_lane_id @queue, 0, @ready OUTPUT;
  WHILE 1 = 1
  BEGIN
    SET @from = NULL;
    SELECT @from = r.lane, @at = r.at FROM pawl.outbox_ready r WHERE r.lo = @id AND r.n = 1;
    IF @from IS NULL BREAK;
    UPDATE pawl.outbox_ready WITH (ROWLOCK) SET lane = @ready WHERE lane = @from AND at = @at AND lo = @id AND n = 1;
    IF @@ROWCOUNT > 0 BREAK; -- else it was made due at another time meanwhile
  END;
  IF @from IS NOT NULL BREAK;
  DELETE FROM pawl.outbox_order WITH (ROWLOCK) WHERE id = @id; -- it is nowhere: nothing waits for it
END;
END
