-- Put messages, a JSON array of their ids, back for another attempt, after @delay_seconds
-- (null: 1, 2, 4 … 60 s), and count this one as failed. Returns how many of them
-- @owner_token held.
CREATE PROCEDURE pawl.outbox_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay_seconds int = NULL AS
BEGIN
DECLARE @runs nvarchar(max), @got int, @delay bigint = CAST(@delay_seconds AS bigint) * 1000000;
pawl.begin_own()
EXEC pawl.check_isolation N'abandon';
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.outbox_runs @owner_token, @ids, @delay, @error, @runs OUTPUT;
SET @error = LEFT(@error, 200);
EXEC pawl.activity_count @runs, N'retried', @error;
EXEC @got = pawl.outbox_abandon_runs @runs;
pawl.end_own()
RETURN @got;
END
