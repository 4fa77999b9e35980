DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_attach_new @join_id, @members;
SET NOCOUNT OFF;
pawl.changed(@GOT)
