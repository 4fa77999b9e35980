-- An attempt failed. With a token: the taken one. Without: one whose transaction was rolled
-- back, delivery and all. Returns 0 if it is no longer the caller's, 1 it may be tried again,
-- 2 it is dead: because @final says so, or because attempts are used up.
CREATE PROCEDURE pawl.inbox_fail_row @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max), @token uniqueidentifier, @error nvarchar(max), @final bit, @most int AS
BEGIN
DECLARE @seq bigint, @got int = 0, @more int = CASE WHEN @token IS NULL THEN 1 ELSE 0 END;
pawl.begin_own()
IF @token IS NULL
  EXEC @got = pawl.inbox_see @source, @message_id, @hash;
IF @got = 0
BEGIN
  pawl.inbox_seq()
  UPDATE pawl.inbox
     SET attempts = attempts + @more, last_error = @error, token = NULL, locked_until_utc = NULL,
         status = CASE WHEN @final = 1 OR @most > 0 AND attempts + @more >= @most THEN N'Dead' ELSE N'Seen' END
   WHERE seq = @seq AND status IN (N'Seen', N'Processing') AND (@token IS NULL OR token = @token);
  IF @@ROWCOUNT = 1
    SELECT @got = CASE WHEN i.status = N'Dead' THEN 2 ELSE 1 END FROM pawl.inbox i WHERE i.seq = @seq;
END
ELSE
  SET @got = 0;
pawl.end_own()
RETURN @got;
END
