-- Mark messages, a JSON array of their ids, as failed for good. Returns how many of them
-- @owner_token held.
CREATE PROCEDURE pawl.outbox_fail @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL AS
BEGIN
DECLARE @runs nvarchar(max), @got int;
pawl.begin_own()
EXEC pawl.check_isolation N'fail';
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.outbox_runs @owner_token, @ids, NULL, @error, @runs OUTPUT;
SET @error = LEFT(@error, 200);
EXEC pawl.activity_count @runs, N'failed', @error;
EXEC @got = pawl.outbox_fail_runs @runs, 1;
pawl.end_own()
RETURN @got;
END
