-- Put claimed timers, a JSON array of ids, back for another attempt, after a delay in
-- microseconds (null: backoff), and count this one as failed. Returns how many of them
-- owner_token held.
CREATE PROCEDURE pawl.timer_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay bigint = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @text nvarchar(max) = pawl.check_error(@error);
EXEC pawl.check_id N'owner token', @owner_token;
EXEC pawl.check_delay @delay;
EXEC @got = pawl.timer_abandon_rows @owner_token, @ids, @delay, @text;
RETURN @got;
END
