-- An id of the caller's may be elsewhere: it was known, or its position was taken.
DECLARE @AT bigint, @GOT int = 0;
SELECT @AT = m.id FROM pawl.outbox_message m WHERE m.id = @id AND m.message_id = @message_id;
IF @AT IS NULL EXEC pawl.outbox_position @message_id, @AT OUTPUT;
IF @AT IS NOT NULL EXEC @GOT = pawl.outbox_join_wait_put @join_id, @AT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
