-- Store a job, a new one or in place of the one of its name. Returns whether that changes anything. The
-- scheduler of a Go program reads the schedule and the zone, an IANA name, and computes the next run:
-- until then the job has none, and where it cannot, last_error says why.
CREATE PROCEDURE pawl.job_put @job_name nvarchar(max), @schedule nvarchar(max), @topic nvarchar(max), @payload nvarchar(max) = N'', @zone nvarchar(max) = N'UTC', @headers nvarchar(max) = NULL,
  @queue nvarchar(max) = N'default', @priority int = 0, @misfire nvarchar(max) = N'once', @misfire_limit int = 10, @overlap nvarchar(max) = N'allow' AS
BEGIN
DECLARE @got int, @id uniqueidentifier = NEWID(), @lane bigint, @bytes varbinary(max), @now datetime2(7) = SYSUTCDATETIME(), @target nvarchar(max) = CONCAT(N'job ', @job_name);
DECLARE @misfires int = CASE @misfire WHEN N'once' THEN 0 WHEN N'none' THEN 1 WHEN N'all' THEN 2 END, @overlaps int = CASE @overlap WHEN N'allow' THEN 0 WHEN N'skip' THEN 1 END;
SET NOCOUNT ON;
EXEC pawl.check_text N'job name', @job_name, 255, 1;
EXEC pawl.check_text N'schedule', @schedule, 256, 1;
EXEC pawl.check_text N'zone', @zone, 255, 1;
EXEC pawl.check_headers @headers OUTPUT;
EXEC pawl.check_message @topic, @payload, NULL, @queue, @priority, 1048576;
IF @headers IS NULL SET @headers = N'{}';
IF JSON_VALUE(@headers, N'$."pawl-expires"') IS NOT NULL EXEC pawl.check_refuse N'headers', N'pawl-expires: runs of a job do not expire';
IF @misfires IS NULL EXEC pawl.check_refuse N'misfire policy', N'neither once, none nor all';
IF @overlaps IS NULL EXEC pawl.check_refuse N'overlap policy', N'neither allow nor skip';
IF @misfire_limit IS NULL OR @misfire_limit NOT BETWEEN 1 AND 1000 EXEC pawl.check_refuse N'misfire limit', N'not within 1 to 1000';
SELECT @headers = JSON_MODIFY(@headers, N'$."pawl-job"', @job_name), @bytes = pawl.outbox_utf8(@payload);
pawl.begin_own()
EXEC pawl.outbox_lane_id @queue, @priority, @lane OUTPUT;
EXEC @got = pawl.job_put_row @id, @job_name, @topic, @bytes, @headers, @lane, @schedule, @zone, @misfires, @misfire_limit, @overlaps, 0, 0, NULL, @now;
EXEC pawl.audit_own N'put', @target, @got;
pawl.end_own()
RETURN @got;
END
