-- The origin's stored procedures and tables, in front of pawl's: for programs of the .NET platform that call
-- dbo.Outbox_Claim and the others, or read dbo.Outbox, until they are replaced. No SQL Server has run it.
--
-- Run it with sqlcmd -b, after the origin's tables were drained and renamed (docs/from-the-origin.md). pawl's schema is
-- pawl, without a prefix. It replaces the origin's procedures; a table that has the name of a view is an error.
--
-- Ids are the Guids of messages, timers and runs. Messages are written by pawl.outbox_enqueue: the views are read only.
IF TYPE_ID(N'dbo.GuidIdList') IS NULL CREATE TYPE dbo.GuidIdList AS TABLE (Id uniqueidentifier NOT NULL PRIMARY KEY);
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_Positions;
GO
-- The positions of messages, a JSON array: pawl settles by these. What is no message is left out.
CREATE PROCEDURE dbo.Outbox_Positions @Ids dbo.GuidIdList READONLY, @Positions nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @all nvarchar(max) = N'', @one uniqueidentifier, @id bigint;
SELECT @one = MIN(i.Id) FROM @Ids i;
WHILE @one IS NOT NULL
BEGIN
  EXEC pawl.outbox_position @one, @id OUTPUT;
  IF @id IS NOT NULL SET @all = CONCAT(@all, N',', @id);
  SELECT @one = MIN(i.Id) FROM @Ids i WHERE i.Id > @one;
END;
SET @Positions = CONCAT(N'[', STUFF(@all, 1, 1, N''), N']');
END
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_Claim;
GO
-- Claim due messages. Answers their ids.
CREATE PROCEDURE dbo.Outbox_Claim @OwnerToken uniqueidentifier, @LeaseSeconds int, @BatchSize int = 50 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got TABLE (id bigint NOT NULL, message_id uniqueidentifier NOT NULL, topic nvarchar(510) NULL, payload nvarchar(max) NULL, correlation_id nvarchar(510) NULL, headers nvarchar(max) NULL, created_at datetime2(7) NULL, due_time_utc datetime2(7) NULL, retry_count int NULL);
INSERT INTO @got (id, message_id, topic, payload, correlation_id, headers, created_at, due_time_utc, retry_count) EXEC pawl.outbox_claim @OwnerToken, @LeaseSeconds, @BatchSize;
SELECT g.message_id AS Id FROM @got g;
END
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_Ack;
GO
-- Mark claimed messages as handled. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Outbox_Ack @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.outbox_ack @OwnerToken, @list;
END
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_Abandon;
GO
-- Put claimed messages back for another attempt, after 1, 2, 4 … 60 s. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Outbox_Abandon @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.outbox_abandon @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_Fail;
GO
-- Mark claimed messages as failed for good. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Outbox_Fail @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.outbox_fail @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.Outbox_ReapExpired;
GO
-- Put messages back whose lease has expired.
CREATE PROCEDURE dbo.Outbox_ReapExpired AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.outbox_reap_expired;
END
GO
DROP PROCEDURE IF EXISTS dbo.Timers_Claim;
GO
-- Claim due timers. Answers their ids.
CREATE PROCEDURE dbo.Timers_Claim @OwnerToken uniqueidentifier, @LeaseSeconds int, @BatchSize int = 20 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got TABLE (id uniqueidentifier NOT NULL, topic nvarchar(510) NULL, payload nvarchar(max) NULL, correlation_id nvarchar(510) NULL, headers nvarchar(max) NULL, "key" nvarchar(510) NULL, created_at datetime2(7) NULL, due_time datetime2(7) NULL, retry_count int NULL);
INSERT INTO @got (id, topic, payload, correlation_id, headers, "key", created_at, due_time, retry_count) EXEC pawl.timer_claim @OwnerToken, @LeaseSeconds, @BatchSize;
SELECT g.id AS Id FROM @got g;
END
GO
DROP PROCEDURE IF EXISTS dbo.Timers_Ack;
GO
-- Mark claimed timers as handled. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Timers_Ack @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
SET @list = (SELECT CONCAT(N',"', CONVERT(nvarchar(36), i.Id), N'"') FROM @Ids i FOR XML PATH(''));
SET @list = CONCAT(N'[', STUFF(@list, 1, 1, N''), N']');
EXEC pawl.timer_ack @OwnerToken, @list;
END
GO
DROP PROCEDURE IF EXISTS dbo.Timers_Abandon;
GO
-- Put claimed timers back for another attempt, after 1, 2, 4 … 60 s. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Timers_Abandon @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
SET @list = (SELECT CONCAT(N',"', CONVERT(nvarchar(36), i.Id), N'"') FROM @Ids i FOR XML PATH(''));
SET @list = CONCAT(N'[', STUFF(@list, 1, 1, N''), N']');
EXEC pawl.timer_abandon @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.Timers_Fail;
GO
-- Mark claimed timers as failed for good. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.Timers_Fail @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
SET @list = (SELECT CONCAT(N',"', CONVERT(nvarchar(36), i.Id), N'"') FROM @Ids i FOR XML PATH(''));
SET @list = CONCAT(N'[', STUFF(@list, 1, 1, N''), N']');
EXEC pawl.timer_fail @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.Timers_ReapExpired;
GO
-- Put timers back whose lease has expired.
CREATE PROCEDURE dbo.Timers_ReapExpired AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.timer_reap_expired;
END
GO
DROP PROCEDURE IF EXISTS dbo.JobRuns_Claim;
GO
-- Claim due runs of jobs. Answers their ids.
CREATE PROCEDURE dbo.JobRuns_Claim @OwnerToken uniqueidentifier, @LeaseSeconds int, @BatchSize int = 20 AS
BEGIN
SET NOCOUNT ON;
DECLARE @got TABLE (id bigint NOT NULL, run_id uniqueidentifier NOT NULL, job_name nvarchar(510) NULL, scheduled_time datetime2(7) NULL, topic nvarchar(510) NULL, payload nvarchar(max) NULL, headers nvarchar(max) NULL, retry_count int NULL);
INSERT INTO @got (id, run_id, job_name, scheduled_time, topic, payload, headers, retry_count) EXEC pawl.job_run_claim @OwnerToken, @LeaseSeconds, @BatchSize;
SELECT g.run_id AS Id FROM @got g;
END
GO
DROP PROCEDURE IF EXISTS dbo.JobRuns_Ack;
GO
-- Mark claimed runs of jobs as handled. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.JobRuns_Ack @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.job_run_ack @OwnerToken, @list;
END
GO
DROP PROCEDURE IF EXISTS dbo.JobRuns_Abandon;
GO
-- Put claimed runs of jobs back for another attempt, after 1, 2, 4 … 60 s. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.JobRuns_Abandon @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.job_run_abandon @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.JobRuns_Fail;
GO
-- Mark claimed runs of jobs as failed for good. Those that @OwnerToken does not hold are left out.
CREATE PROCEDURE dbo.JobRuns_Fail @OwnerToken uniqueidentifier, @Ids dbo.GuidIdList READONLY, @LastError nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @list nvarchar(max);
EXEC dbo.Outbox_Positions @Ids, @list OUTPUT;
EXEC pawl.job_run_fail @OwnerToken, @list, @LastError;
END
GO
DROP PROCEDURE IF EXISTS dbo.JobRuns_ReapExpired;
GO
-- Put runs of jobs back whose lease has expired.
CREATE PROCEDURE dbo.JobRuns_ReapExpired AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.job_run_reap_expired;
END
GO
DROP VIEW IF EXISTS dbo.Outbox;
GO
-- The origin's table Outbox, column for column.
CREATE VIEW dbo.Outbox AS
SELECT o.message_id AS Id, o.topic AS Topic, o.payload AS Payload, TODATETIMEOFFSET(o.created_at, 0) AS CreatedAt, CAST(CASE WHEN o.status > 3 THEN 3 ELSE o.status END AS tinyint) AS Status,
       o.locked_until AS LockedUntil, o.owner_token AS OwnerToken, o.is_processed AS IsProcessed, TODATETIMEOFFSET(o.processed_at, 0) AS ProcessedAt, o.processed_by AS ProcessedBy, o.retry_count AS RetryCount,
       o.last_error AS LastError, TODATETIMEOFFSET(o.next_attempt_at, 0) AS NextAttemptAt, o.message_id AS MessageId, o.correlation_id AS CorrelationId, TODATETIMEOFFSET(o.due_time_utc, 0) AS DueTimeUtc
  FROM pawl.outbox o;
GO
DROP VIEW IF EXISTS dbo.OutboxJoin;
GO
-- The origin's table OutboxJoin, column for column.
CREATE VIEW dbo.OutboxJoin AS
SELECT j.join_id AS JoinId, j.grouping_key AS GroupingKey, j.expected_steps AS ExpectedSteps, j.completed_steps AS CompletedSteps, j.failed_steps AS FailedSteps, CAST(j.status AS tinyint) AS Status,
       j.created_utc AS CreatedUtc, j.last_updated_utc AS LastUpdatedUtc, j.metadata AS Metadata
  FROM pawl.outbox_joins j;
GO
DROP VIEW IF EXISTS dbo.OutboxJoinMember;
GO
-- The origin's table OutboxJoinMember, column for column.
CREATE VIEW dbo.OutboxJoinMember AS
SELECT m.join_id AS JoinId, m.outbox_message_id AS OutboxMessageId, CAST(m.status AS tinyint) AS Status, m.created_utc AS CreatedUtc
  FROM pawl.outbox_join_members m;
GO
DROP VIEW IF EXISTS dbo.Timers;
GO
-- The origin's table Timers, column for column.
CREATE VIEW dbo.Timers AS
SELECT t.id AS Id, TODATETIMEOFFSET(t.due_time, 0) AS DueTime, t.payload AS Payload, t.topic AS Topic, t.correlation_id AS CorrelationId, t.status AS Status, CAST(t.status_code AS tinyint) AS StatusCode,
       t.locked_until AS LockedUntil, t.owner_token AS OwnerToken, t.claimed_by AS ClaimedBy, TODATETIMEOFFSET(t.claimed_at, 0) AS ClaimedAt, t.retry_count AS RetryCount, TODATETIMEOFFSET(t.created_at, 0) AS CreatedAt,
       TODATETIMEOFFSET(t.processed_at, 0) AS ProcessedAt, t.last_error AS LastError
  FROM pawl.timers t;
GO
DROP VIEW IF EXISTS dbo.Jobs;
GO
-- The origin's table Jobs, column for column.
CREATE VIEW dbo.Jobs AS
SELECT j.id AS Id, j.job_name AS JobName, j.cron_schedule AS CronSchedule, j.topic AS Topic, j.payload AS Payload, j.is_enabled AS IsEnabled, TODATETIMEOFFSET(j.next_due_time, 0) AS NextDueTime,
       TODATETIMEOFFSET(j.last_run_time, 0) AS LastRunTime, j.last_run_status AS LastRunStatus
  FROM pawl.jobs j;
GO
DROP VIEW IF EXISTS dbo.JobRuns;
GO
-- The origin's table JobRuns, column for column.
CREATE VIEW dbo.JobRuns AS
SELECT r.id AS Id, r.job_id AS JobId, TODATETIMEOFFSET(r.scheduled_time, 0) AS ScheduledTime, r.status AS Status, r.claimed_by AS ClaimedBy, TODATETIMEOFFSET(r.claimed_at, 0) AS ClaimedAt, r.retry_count AS RetryCount,
       TODATETIMEOFFSET(r.start_time, 0) AS StartTime, TODATETIMEOFFSET(r.end_time, 0) AS EndTime, r.output AS Output, r.last_error AS LastError
  FROM pawl.job_runs r;
GO
