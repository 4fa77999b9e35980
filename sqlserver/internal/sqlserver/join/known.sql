DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_known @join_id;
SET NOCOUNT OFF;
pawl.changed(@GOT)
