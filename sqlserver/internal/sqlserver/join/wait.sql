-- ignores @id: an id of the caller's may be elsewhere, since it was known or its position was taken
DECLARE @AT bigint, @GOT int = 0;
EXEC pawl.outbox_position @message_id, @AT OUTPUT;
IF @AT IS NOT NULL EXEC @GOT = pawl.outbox_join_wait_put @join_id, @AT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
