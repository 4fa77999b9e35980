DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_attach_all @join_id, @message_ids;
SET NOCOUNT OFF;
pawl.changed(@GOT)
