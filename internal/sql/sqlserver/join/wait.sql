DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_wait_put @join_id, @id;
SET NOCOUNT OFF;
pawl.changed(@GOT)
