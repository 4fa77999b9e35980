-- Put messages of the inbox, a JSON array of ids, back for another attempt, after @delay_seconds
-- (null: 1, 2, 4 … 60 s). One whose attempts are used up is dead, and its message failed.
-- Returns how many of them @owner_token held.
CREATE PROCEDURE pawl.inbox_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay_seconds int = NULL, @max_attempts int = 10 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC pawl.check_attempts @max_attempts;
EXEC @got = pawl.inbox_end @owner_token, @ids, @error, @delay_seconds, 0, @max_attempts;
RETURN @got;
END
