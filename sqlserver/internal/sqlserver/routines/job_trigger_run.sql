-- Run a job now, beside its schedule. Returns 0 for an unknown one.
CREATE PROCEDURE pawl.job_trigger_run @name nvarchar(510), @id bigint, @run uniqueidentifier AS
BEGIN
DECLARE @job uniqueidentifier, @now datetime2(7), @got int = 0;
pawl.begin_own()
SELECT @job = j.id FROM pawl.job j WITH (UPDLOCK, REPEATABLEREAD) WHERE pawl.exactly(j.name, @name);
SET @now = SYSUTCDATETIME();
IF @job IS NOT NULL
  EXEC @got = pawl.job_make_run @job, @id, @run, @now, 0, 1;
pawl.end_own()
RETURN @got;
END
