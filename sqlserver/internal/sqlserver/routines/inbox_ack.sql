-- Mark messages of the inbox, a JSON array of ids, as done, and their messages as handled.
-- Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.inbox_ack @owner_token uniqueidentifier, @ids nvarchar(max), @processed_by nvarchar(max) = NULL AS
BEGIN
DECLARE @n int = 0, @done nvarchar(max) = N'[';
pawl.inbox_tables()
pawl.begin_own()
EXEC pawl.check_isolation N'ack';
EXEC pawl.check_id N'owner token', @owner_token;
EXEC pawl.check_text N'processed by', @processed_by, 255, 0;
pawl.inbox_keys()
WHILE @nr <= @last
BEGIN
  SELECT @id = k.id, @source = k.source, @message_id = k.message_id FROM @key k WHERE k.nr = @nr;
  pawl.inbox_right(-1)
  pawl.inbox_seq()
  UPDATE pawl.inbox SET status = N'Done', processed_utc = SYSUTCDATETIME(), token = NULL, locked_until_utc = NULL WHERE seq = @seq AND status = N'Processing' AND token = @owner_token;
  IF @@ROWCOUNT = 1
    SELECT @done = @done + CASE WHEN @n > 0 THEN N',' ELSE N'' END + CAST(@id AS nvarchar(20)), @n = @n + 1;
  SET @nr = @nr + 1;
END;
SET @done = @done + N']';
EXEC pawl.outbox_ack @owner_token, @done, @processed_by;
pawl.end_own()
RETURN @n;
END
