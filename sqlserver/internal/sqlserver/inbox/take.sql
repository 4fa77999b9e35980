DECLARE @GOT int;
EXEC @GOT = pawl.inbox_take @source, @message_id, @hash, @token, @lease, @max_attempts, @resumes;
SET NOCOUNT OFF;
pawl.changed(@GOT)
