DECLARE @GOT int;
EXEC @GOT = pawl.inbox_see @source, @message_id, @hash;
SET NOCOUNT OFF;
pawl.changed(@GOT)
