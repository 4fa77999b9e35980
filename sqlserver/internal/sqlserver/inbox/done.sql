DECLARE @GOT int;
EXEC @GOT = pawl.inbox_done @source, @message_id, @token;
SET NOCOUNT OFF;
pawl.changed(@GOT)
