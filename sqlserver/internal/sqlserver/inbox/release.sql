DECLARE @GOT int;
EXEC @GOT = pawl.inbox_release @source, @message_id, @token;
SET NOCOUNT OFF;
pawl.changed(@GOT)
