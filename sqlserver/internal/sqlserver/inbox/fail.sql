DECLARE @GOT int;
EXEC @GOT = pawl.inbox_fail_row @source, @message_id, @hash, @token, @error, @final, @max_attempts;
SET NOCOUNT OFF;
pawl.changed(@GOT)
