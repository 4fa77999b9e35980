-- Take a message to process it: 1 if it is the caller's now, otherwise as inbox_see says.
-- Without a lease it is the transaction that holds it: a second delivery finds the lock taken
-- and need not wait for the outcome. With one it is the token's until the lease ends, and the
-- attempt counts at once, so that a message that kills its processor ends as dead. @resumes:
-- one that did not end is the same attempt, for who counts those elsewhere.
CREATE PROCEDURE pawl.inbox_take @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max), @token uniqueidentifier, @lease bigint, @most int, @resumes bit AS
BEGIN
DECLARE @seq bigint, @got int, @lock nvarchar(255), @verdict int = 5, @until datetime2(7);
pawl.begin_own()
pawl.inbox_right(0)
IF @got >= 0
BEGIN
  EXEC @verdict = pawl.inbox_see @source, @message_id, @hash, @token;
  IF @verdict = 0
    SET @verdict = 1;
  IF @verdict = 1 AND @lease IS NOT NULL
  BEGIN
    pawl.inbox_seq()
    SET @until = SYSUTCDATETIME();
    SET @until = pawl.plus(@until, @lease);
    UPDATE pawl.inbox
       SET attempts = attempts + CASE WHEN @resumes = 1 AND status = N'Processing' THEN 0 ELSE 1 END, token = @token, locked_until_utc = @until, status = N'Processing'
     WHERE seq = @seq AND (@most = 0 OR attempts - CASE WHEN @resumes = 1 AND status = N'Processing' THEN 1 ELSE 0 END < @most);
    IF @@ROWCOUNT = 0
    BEGIN
      UPDATE pawl.inbox SET status = N'Dead', token = NULL, locked_until_utc = NULL WHERE seq = @seq;
      SET @verdict = 3;
    END;
  END;
END;
pawl.end_own()
RETURN @verdict;
END
