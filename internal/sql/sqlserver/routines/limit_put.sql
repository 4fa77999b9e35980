-- Limit a topic or queue. Returns 1, or 0 if it is limited so already. What is claimed counts from
-- now on: it is looked for first, so that nobody waits for a limit while this waits for a settlement
-- (where there are no row versions).
CREATE PROCEDURE pawl.limit_put @kind nvarchar(20), @name nvarchar(510), @concurrency int, @rate int, @period bigint, @burst int, @actor nvarchar(510), @reason nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @limit bigint, @found bit = 0, @same bit, @lock nvarchar(255), @free int, @after bigint = 0, @upto bigint;
DECLARE @held TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
IF @concurrency IS NOT NULL
  INSERT INTO @held (id)
  SELECT DISTINCT m.id FROM pawl.outbox_claimed c INNER JOIN pawl.outbox_lane q ON q.id = c.lane INNER LOOP JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
   WHERE @kind = N'topic' AND pawl.exactly(m.topic, @name) OR @kind = N'queue' AND pawl.exactly(q.queue, @name);
WHILE @found = 0
BEGIN
  SET @limit = NULL;
  SELECT @limit = l.seq FROM pawl.outbox_limit l WHERE l.kind = @kind AND pawl.exactly(l.name, @name);
  IF @limit IS NULL
  BEGIN
    pawl.begin_insert()
    INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, actor, reason) VALUES (@kind, @name, @concurrency, @rate, @period, @burst, @actor, @reason);
    SET @got = 1;
    pawl.end_insert()
    CONTINUE; -- for its seq, or for that of another one's who was faster
  END;
  pawl.limit_turn(@limit, -1)
  IF @free < 0 THROW 57102, 'chosen as the victim of a deadlock', 1;
  SELECT @found = 1, @same = CASE WHEN EXISTS (SELECT l.concurrency, l.rate, l.period, l.burst INTERSECT SELECT @concurrency, @rate, @period, @burst) THEN 1 ELSE 0 END
    FROM pawl.outbox_limit l WHERE l.seq = @limit; -- it is gone if it was removed meanwhile
END;
IF @same = 0
BEGIN
  UPDATE pawl.outbox_limit WITH (ROWLOCK)
     SET concurrency = @concurrency, rate = @rate, period = @period, burst = @burst, next_at = '0001-01-01', at = SYSUTCDATETIME(), actor = @actor, reason = @reason
   WHERE seq = @limit;
  SET @got = 1;
END;
WHILE 1 = 1
BEGIN
  SELECT @upto = MAX(x.id) FROM (SELECT TOP (1000) h.id FROM @held h WHERE h.id > @after ORDER BY h.id) x;
  IF @upto IS NULL BREAK;
  INSERT INTO pawl.outbox_limit_claim (of_limit, id)
  SELECT @limit, h.id FROM @held h WHERE h.id > @after AND h.id <= @upto AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit AND u.id = h.id);
  SET @after = @upto;
END;
pawl.end_own()
RETURN @got;
END
