-- Mark messages, a JSON array of their ids, as failed for good. Returns how many of them
-- @owner_token held.
CREATE PROCEDURE pawl.outbox_fail @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @runs nvarchar(max), @got int;
EXEC pawl.check_isolation N'fail';
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.outbox_runs @owner_token, @ids, NULL, @error, @runs OUTPUT;
EXEC @got = pawl.outbox_fail_runs @runs, 1;
RETURN @got;
END
