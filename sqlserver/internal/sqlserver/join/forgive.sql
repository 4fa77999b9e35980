SET NOCOUNT ON;
DECLARE @SEQ bigint;
SELECT @SEQ = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join_id;
SET NOCOUNT OFF;
UPDATE pawl.outbox_join SET status = 1, last_updated_utc = @now WHERE seq = @SEQ AND status = 2 AND completed_steps + failed_steps = expected_steps
