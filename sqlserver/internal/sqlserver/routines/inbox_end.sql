-- Attempts at messages of the inbox failed: each is put back with its message, or given up with
-- it. Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.inbox_end @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max), @delay_seconds int, @final bit, @most int AS
BEGIN
DECLARE @n int = 0, @back nvarchar(max) = N'', @over nvarchar(max) = N'';
pawl.inbox_tables()
pawl.begin_own()
EXEC pawl.check_isolation N'fail';
EXEC pawl.check_id N'owner token', @owner_token;
IF @delay_seconds < 0 EXEC pawl.check_refuse N'delay', N'negative';
EXEC pawl.check_error @error OUTPUT;
pawl.inbox_keys()
WHILE @nr <= @last
BEGIN
  SELECT @id = k.id, @source = k.source, @message_id = k.message_id, @hash = k.hash FROM @key k WHERE k.nr = @nr;
  pawl.inbox_right(-1)
  EXEC @got = pawl.inbox_fail_row @source, @message_id, @hash, @owner_token, @error, @final, @most;
  IF @got = 1 SET @back = @back + N',' + CAST(@id AS nvarchar(20));
  IF @got = 2 SET @over = @over + N',' + CAST(@id AS nvarchar(20));
  IF @got > 0 SET @n = @n + 1;
  SET @nr = @nr + 1;
END;
SELECT @back = CONCAT(N'[', STUFF(@back, 1, 1, N''), N']'), @over = CONCAT(N'[', STUFF(@over, 1, 1, N''), N']');
EXEC pawl.outbox_abandon @owner_token, @back, @error, @delay_seconds;
EXEC pawl.outbox_fail @owner_token, @over, @error;
pawl.end_own()
RETURN @n;
END
