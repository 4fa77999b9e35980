-- Run a job now, beside its schedule. run_id is the run's id, which is the message's.
CREATE PROCEDURE pawl.job_trigger @job_name nvarchar(max), @run_id uniqueidentifier = NULL OUTPUT AS
BEGIN
DECLARE @got int, @id bigint, @one int = FLOOR(RAND() * 4096), @two int = FLOOR(RAND() * 16384), @target nvarchar(max) = CONCAT(N'job ', @job_name), @text nvarchar(2048);
SET NOCOUNT ON;
EXEC pawl.check_text N'job name', @job_name, 255, 1;
pawl.begin_own()
SET @id = NEXT VALUE FOR pawl.outbox_single;
SET @run_id = pawl.outbox_new_id(@id, @one, @two);
EXEC @got = pawl.job_trigger_run @job_name, @id, @run_id;
IF @got = 0
BEGIN
  SET @text = CONCAT(N'job ', REPLACE(@job_name, N'%', N'%%'), N' not found');
  THROW 57121, @text, 1;
END;
EXEC pawl.audit_own N'trigger', @target, 1;
pawl.end_own()
END
