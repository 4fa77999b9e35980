-- Put messages, a JSON array of their ids, back for another attempt, after @delay_seconds
-- (null: 1, 2, 4 … 60 s), and count this one as failed. Returns how many of them
-- @owner_token held.
CREATE PROCEDURE pawl.outbox_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay_seconds int = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @runs nvarchar(max), @got int, @delay bigint = CAST(@delay_seconds AS bigint) * 1000000;
EXEC pawl.check_isolation N'abandon';
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.outbox_runs @owner_token, @ids, @delay, @error, @runs OUTPUT;
EXEC @got = pawl.outbox_abandon_runs @runs;
RETURN @got;
END
