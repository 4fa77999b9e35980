-- Limit a topic, in all queues together, or a queue: how many messages are claimed at once, and how
-- many by a rate in each period (default a second), of which a burst may be claimed at once (default
-- what the rate gives in a fifth of a second). 0 and null are none. Returns 1, or 0 if it is limited
-- so already. It refuses what Go's package throttle refuses.
CREATE PROCEDURE pawl.limit_set @kind nvarchar(max), @name nvarchar(max), @concurrency int = NULL, @rate int = NULL, @period_seconds float = NULL, @burst int = NULL, @reason nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @micros bigint, @given bigint, @id uniqueidentifier = NEWID(), @actor nvarchar(510) = ORIGINAL_LOGIN(), @target nvarchar(max) = CONCAT(@kind, N' ', @name);
EXEC pawl.check_subject @kind, @name;
IF coalesce(@concurrency, 0) = 0 AND coalesce(@rate, 0) = 0 EXEC pawl.check_refuse N'limit', N'neither concurrency nor rate';
IF coalesce(@rate, 0) = 0 AND (coalesce(@period_seconds, 0) <> 0 OR coalesce(@burst, 0) <> 0) EXEC pawl.check_refuse N'rate', N'0, with a period or a burst';
EXEC pawl.check_option N'concurrency', @concurrency, 1, 10000, N'1', N'10000';
EXEC pawl.check_option N'rate', @rate, 1, 1000000, N'1', N'1000000';
EXEC pawl.check_option N'period', @period_seconds, 0.0001, 86400, N'100us', N'24h';
EXEC pawl.check_option N'burst', @burst, 1, 1000000, N'1', N'1000000';
SELECT @concurrency = NULLIF(@concurrency, 0), @rate = NULLIF(@rate, 0), @burst = NULLIF(@burst, 0), @micros = CAST(ROUND(coalesce(NULLIF(@period_seconds, 0), 1) * 1e6, 0) AS bigint);
IF CAST(@rate AS bigint) * 100 > @micros EXEC pawl.check_refuse N'rate', N'more than one in 100us';
EXEC pawl.check_text N'reason', @reason, 1000, 0;
EXEC pawl.check_isolation N'limit';
SELECT @reason = NULLIF(@reason, N''), @given = CAST(@rate AS bigint) * 200000 / @micros;
IF @burst IS NULL SET @burst = CASE WHEN @given > 1 THEN @given ELSE 1 END;
pawl.begin_own()
EXEC @got = pawl.limit_put @kind, @name, @concurrency, @rate, @micros, @burst, @actor, @reason;
EXEC pawl.audit_note @id, @actor, N'limit', @target, @reason, @got;
pawl.end_own()
RETURN @got;
END
