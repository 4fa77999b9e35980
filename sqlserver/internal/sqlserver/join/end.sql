DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_end @join_id, @status;
SET NOCOUNT OFF;
pawl.changed(@GOT)
