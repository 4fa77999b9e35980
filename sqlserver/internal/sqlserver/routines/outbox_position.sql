-- Where a message lies, or null. Ids that pawl makes say so themselves.
CREATE PROCEDURE pawl.outbox_position @message uniqueidentifier, @id bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @carried bigint = pawl.carried(@message);
SET @id = NULL;
SELECT @id = m.id FROM pawl.outbox_message m WHERE m.id = @carried AND m.message_id = @message;
IF @id IS NULL
  SELECT @id = m.id FROM pawl.outbox_message m WITH (FORCESEEK) WHERE m.message_id = @message AND m.supplied = 1;
END
