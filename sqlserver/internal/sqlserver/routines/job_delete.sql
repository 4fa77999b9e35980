-- Delete a job and its pending runs. Returns 0 if there was none, 1 otherwise.
CREATE PROCEDURE pawl.job_delete @job_name nvarchar(max) AS
BEGIN
DECLARE @got int, @target nvarchar(max) = CONCAT(N'job ', @job_name);
SET NOCOUNT ON;
EXEC pawl.check_text N'job name', @job_name, 255, 1;
EXEC pawl.check_isolation N'delete';
pawl.begin_own()
EXEC @got = pawl.job_remove @job_name;
EXEC pawl.audit_own N'remove', @target, @got;
pawl.end_own()
RETURN @got;
END
