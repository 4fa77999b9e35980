-- Give messages of the inbox, a JSON array of ids, up: they are dead, and their messages failed.
-- Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.inbox_fail @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.inbox_end @owner_token, @ids, @error, NULL, 1, 0;
RETURN @got;
END
