-- Let the line of a message with an ordering key be claimed from again, where no head of it may be:
-- the first becomes the head, or the next does of one that is over. A message that waits behind
-- others and is not in line is put in order by the next claim. Returns 1, or 0 if nothing is wrong.
-- Rows are locked in the order in which outbox_order_release does, and read after that. A claim that
-- makes a message the head of this key at the same moment fails, and is repeated.
CREATE PROCEDURE pawl.outbox_order_repair @id bigint AS
BEGIN
DECLARE @got int = 0, @lane bigint, @key nvarchar(510), @head bit, @first bigint = @id, @place int;
pawl.begin_own()
UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = head WHERE id = @id; -- locks it
SELECT @lane = o.lane, @key = o."key", @head = o.head FROM pawl.outbox_order o WHERE o.id = @id;
IF @lane IS NULL
BEGIN
  UPDATE pawl.outbox_ready WITH (ROWLOCK) SET lane = (SELECT m.lane FROM pawl.outbox_message m WHERE m.id = @id)
   WHERE lo = @id AND lane IN (SELECT l.id FROM pawl.outbox_lane l WHERE l.kind = 2) AND EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @id)
     AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = @id);
  SET @got = @@ROWCOUNT;
END;
IF @head = 0
BEGIN
  SET @first = NULL;
  IF NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.lane = @lane AND o."key" = @key AND o.size = DATALENGTH(@key) AND o.head = 1)
    SELECT TOP (1) @first = o.id FROM pawl.outbox_order o WHERE o.lane = @lane AND o."key" = @key AND o.size = DATALENGTH(@key) ORDER BY o.id;
  UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = head WHERE id = @first;
  IF @@ROWCOUNT = 0 SET @first = NULL;
END;
IF @lane IS NOT NULL AND @first IS NOT NULL
BEGIN
  SELECT @place = pawl.line_place(@first);
  IF @place IN (1, 3) -- others wait for it as they should, if it is the head
  BEGIN
    UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = 1 WHERE id = @first AND head = 0;
    SET @got = @@ROWCOUNT;
  END;
  ELSE
  BEGIN
    UPDATE pawl.outbox_order WITH (ROWLOCK) SET head = 0 WHERE id = @first AND head = 1;
    EXEC pawl.outbox_order_lead @lane, @key;
    SET @got = 1;
  END;
END;
pawl.end_own()
RETURN @got;
END
