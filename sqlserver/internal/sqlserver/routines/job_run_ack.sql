-- Mark claimed runs of jobs, a JSON array of ids, as succeeded. Returns how many of them
-- owner_token held.
CREATE PROCEDURE pawl.job_run_ack @owner_token uniqueidentifier, @ids nvarchar(max), @processed_by nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.outbox_ack @owner_token, @ids, @processed_by;
RETURN @got;
END
