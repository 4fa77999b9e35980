-- Put claimed runs of jobs back whose lease has run out, as all messages. Returns how many
-- messages those were.
CREATE PROCEDURE pawl.job_run_reap_expired AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.outbox_reap_expired;
RETURN @got;
END
