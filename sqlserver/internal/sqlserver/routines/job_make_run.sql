-- Make a run of a job whose row the caller has locked, and its message; or record that there
-- is none, because times were missed or the last run is not over (D-83, D-86). Returns 1 if
-- there is a new message.
CREATE PROCEDURE pawl.job_make_run @job uniqueidentifier, @id bigint, @run uniqueidentifier, @nominal datetime2(7), @missed bigint, @triggered bit AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @outcome smallint, @lane bigint, @overlap smallint;
SELECT @lane = j.lane, @overlap = j.overlap FROM pawl.job j WHERE j.id = @job;
IF @missed > 0
  SET @outcome = 6;
ELSE IF @overlap = 1 AND @triggered = 0 AND EXISTS (SELECT 1 FROM pawl.job_run_item i WHERE i.job_id = @job AND i.outcome IS NULL AND i.status < 2)
  SET @outcome = 5;
INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time, triggered, missed, outcome, created_at, end_time)
SELECT @id, @run, j.id, j.name, @nominal, @triggered, @missed, @outcome, @now, CASE WHEN @outcome IS NOT NULL THEN @now END
  FROM pawl.job j WHERE j.id = @job
   AND (@triggered = 1 OR NOT EXISTS (SELECT 1 FROM pawl.job_run r WHERE r.job_id = @job AND r.scheduled_time = @nominal AND r.triggered = 0));
IF @@ROWCOUNT = 0 OR @outcome IS NOT NULL RETURN 0;
INSERT INTO pawl.outbox_message (id, message_id, lane, due_at, topic, headers, payload)
SELECT @id, @run, j.lane, @nominal, j.topic, j.headers, j.payload FROM pawl.job j WHERE j.id = @job;
INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (@lane, @now, @id, 1);
UPDATE pawl.job SET last_run = @id WHERE id = @job;
RETURN 1;
END
