-- Put claimed runs of jobs, a JSON array of ids, back for another attempt, after
-- @delay_seconds (null: 1, 2, 4 … 60 s), and count this one as failed. Returns how many of
-- them owner_token held.
CREATE PROCEDURE pawl.job_run_abandon @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL, @delay_seconds int = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.outbox_abandon @owner_token, @ids, @error, @delay_seconds;
RETURN @got;
END
