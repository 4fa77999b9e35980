DECLARE @GOT int;
EXEC @GOT = pawl.inbox_take_done @source, @message_id, @hash;
SET NOCOUNT OFF;
pawl.changed(@GOT)
