-- Mark claimed runs of jobs, a JSON array of ids, as failed for good. Returns how many of them
-- owner_token held.
CREATE PROCEDURE pawl.job_run_fail @owner_token uniqueidentifier, @ids nvarchar(max), @error nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.outbox_fail @owner_token, @ids, @error;
RETURN @got;
END
