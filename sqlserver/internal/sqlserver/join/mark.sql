DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_mark @join_id, @ids, @status;
SET NOCOUNT OFF;
pawl.changed(@GOT)
