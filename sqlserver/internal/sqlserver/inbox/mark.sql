DECLARE @GOT int;
EXEC @GOT = pawl.inbox_mark @source, @message_id, @status;
SET NOCOUNT OFF;
pawl.changed(@GOT)
