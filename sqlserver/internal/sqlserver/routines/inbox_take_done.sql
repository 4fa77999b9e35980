-- Take a message and mark it as done, for a transaction that is rolled back unless it is
-- handled. Returns what inbox_take does.
CREATE PROCEDURE pawl.inbox_take_done @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max) AS
BEGIN
DECLARE @seq bigint, @verdict int;
pawl.begin_own()
EXEC @verdict = pawl.inbox_take @source, @message_id, @hash, NULL, NULL, 0, 0;
IF @verdict = 1
BEGIN
  pawl.inbox_seq()
  UPDATE pawl.inbox SET status = N'Done', processed_utc = SYSUTCDATETIME(), attempts = attempts + 1, token = NULL, locked_until_utc = NULL WHERE seq = @seq;
END;
pawl.end_own()
RETURN @verdict;
END
