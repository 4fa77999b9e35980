-- Put messages, a JSON array of their ids, back without counting an attempt, at once or after
-- a delay. Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.outbox_release @owner_token uniqueidentifier, @ids nvarchar(max), @delay_seconds int = 0 AS
BEGIN
SET NOCOUNT ON;
DECLARE @runs nvarchar(max), @got int, @delay bigint = CAST(@delay_seconds AS bigint) * 1000000;
EXEC pawl.check_isolation N'release';
EXEC pawl.outbox_runs @owner_token, @ids, @delay, NULL, @runs OUTPUT;
EXEC @got = pawl.outbox_release_runs @runs;
RETURN @got;
END
