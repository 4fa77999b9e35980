-- Mark claimed timers, a JSON array of ids, as failed for good. Returns how many of them
-- owner_token held.
CREATE PROCEDURE pawl.timer_fail @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC pawl.check_error @error OUTPUT;
EXEC pawl.check_id N'owner token', @owner_token;
EXEC @got = pawl.timer_end_rows @owner_token, @ids, 3, @error;
RETURN @got;
END
