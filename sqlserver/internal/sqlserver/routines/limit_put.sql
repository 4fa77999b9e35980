-- Limit a topic, each topic of a pattern, or a queue. Returns 1, or 0 if it is limited so already.
-- What is claimed already counts from now on.
CREATE PROCEDURE pawl.limit_put @kind nvarchar(20), @name nvarchar(510), @concurrency int, @rate int, @period bigint, @burst int, @actor nvarchar(510), @reason nvarchar(max) AS
BEGIN
DECLARE @got int = 1, @limit bigint, @same bit, @free int;
pawl.begin_own()
pawl.limits_turn(N'Exclusive', -1)
IF @free < 0 THROW 57102, 'chosen as the victim of a deadlock', 1;
SELECT @limit = l.seq, @same = CASE WHEN EXISTS (SELECT l.concurrency, l.rate, l.period, l.burst, l.pattern INTERSECT SELECT @concurrency, @rate, @period, @burst, N'') THEN 1 ELSE 0 END
  FROM pawl.outbox_limit l WHERE l.kind = @kind AND pawl.exactly(l.name, @name);
IF @limit IS NULL
  INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, actor, reason) VALUES (@kind, @name, @concurrency, @rate, @period, @burst, @actor, @reason);
ELSE IF @same = 0
  UPDATE pawl.outbox_limit WITH (ROWLOCK)
     SET concurrency = @concurrency, rate = @rate, period = @period, burst = @burst, next_at = '0001-01-01', at = SYSUTCDATETIME(), actor = @actor, reason = @reason, pattern = N''
   WHERE seq = @limit;
ELSE
  SET @got = 0;
IF @got = 1 AND @kind = N'each'
BEGIN -- its topics get rows with the new bounds, from the longest pattern of each
  DELETE FROM pawl.outbox_limit WHERE pattern <> N'' AND LEN(pattern) <= LEN(@name) AND pawl.falls_under(@name, name);
  DELETE FROM pawl.outbox_limit_claim WHERE of_limit NOT IN (SELECT l.seq FROM pawl.outbox_limit l);
END;
IF @concurrency IS NOT NULL EXEC pawl.outbox_limit_hold @kind, @name;
pawl.end_own()
RETURN @got;
END
