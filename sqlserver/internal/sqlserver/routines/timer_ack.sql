-- Mark claimed timers, a JSON array of ids, as fired. Returns how many of them owner_token
-- held.
CREATE PROCEDURE pawl.timer_ack @owner_token uniqueidentifier, @ids nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC pawl.check_id N'owner token', @owner_token;
EXEC @got = pawl.timer_end_rows @owner_token, @ids, 2, NULL;
RETURN @got;
END
