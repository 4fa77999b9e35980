-- Put claimed timers, a JSON array of ids, back for another attempt, after @delay_seconds
-- (null: 1, 2, 4 … 60 s), and count this one as failed. Returns how many of them owner_token
-- held.
CREATE PROCEDURE pawl.timer_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay_seconds int = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @delay bigint = CAST(@delay_seconds AS bigint) * 1000000;
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.check_id N'owner token', @owner_token;
EXEC pawl.check_delay @delay;
EXEC @got = pawl.timer_abandon_rows @owner_token, @ids, @delay, @error;
RETURN @got;
END
