-- Claim up to @most due messages of a queue, but for suspects: a destructive read of ready
-- rows in key order. What is locked by someone else is skipped; what a claim got is what
-- its delete returned. The first look is at few rows, each of which may be a long run; the
-- next ones go by what those had. The answer is in order of priority, time and id.
-- @versioned: the database has READ_COMMITTED_SNAPSHOT ON, where READPAST needs another hint.
-- @wait, microseconds: the lane whose oldest message has been due for longer goes first; null:
-- priority alone decides. @in: null for all that may be claimed of the queue, within its limits; a
-- lane's id for what is in that lane, or 0 for what is in none of a limit, both without regard to
-- limits. @apart: a topic that is treated as one with a limit, so that others are found behind
-- it. Before it claims, messages with ordering keys are put in order. For a transaction that is
-- open.
CREATE PROCEDURE pawl.outbox_claim_runs @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @text bit = 0, @claimed nvarchar(max) = NULL OUTPUT, @wait bigint = NULL, @in bigint = NULL, @apart nvarchar(510) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @all bigint;
IF @in IS NULL AND (@apart IS NOT NULL OR pawl.limited(@queue))
BEGIN
  EXEC pawl.outbox_claim_limited @queue, @owner, @lease, @most, @versioned, 0, 0, @all OUTPUT, @text, @claimed OUTPUT, @wait, @apart;
  RETURN;
END;
IF coalesce(@in, 0) = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 1) AND NOT pawl.paused(@queue)
  EXEC pawl.outbox_sequence @queue, @most, @versioned;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @need bigint = @most, @take int, @got bigint, @seen int, @lane bigint, @priority int = -32768, @level int, @late bigint, @nr int = 0;
DECLARE @until datetime2(7) = pawl.plus(@now, @lease);
DECLARE @pick TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL, suspect int NOT NULL);
DECLARE @cut TABLE (at datetime2(7) NOT NULL, lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL, m bigint);
DECLARE @runs TABLE (nr int NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL);
IF @wait IS NOT NULL
  SELECT TOP (1) @late = l.id, @level = l.priority
    FROM pawl.outbox_lane l
   CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at < pawl.minus(@now, @wait) AND r.suspect = 0 ORDER BY r.at, r.lo) head
   WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0 ORDER BY head.at, l.priority;
WHILE @need > 0 AND NOT pawl.paused(@queue)
BEGIN
  SET @lane = @late;
  SET @late = NULL;
  IF @lane IS NULL
  BEGIN
    IF @in <> 0
    SELECT @lane = l.id, @priority = l.priority FROM pawl.outbox_lane l WHERE l.id = @in AND l.priority > @priority;
    ELSE
    SELECT TOP (1) @lane = l.id, @priority = l.priority FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0 AND l.priority > @priority ORDER BY l.priority;
    SET @level = @priority;
  END;
  IF @lane IS NULL BREAK;
  SET @take = CASE WHEN @need < 50 THEN @need ELSE 50 END;
  WHILE @need > 0
  BEGIN
    SET @nr = @nr + 1;
    DELETE FROM @pick;
    DELETE FROM @cut;
    IF @versioned = 1
    INSERT INTO @pick (lo, at, n, suspect)
    SELECT TOP (@take) r.lo, r.at, r.n, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
     WHERE r.lane = @lane AND r.at <= @now AND r.suspect = 0 ORDER BY r.at, r.lo;
    ELSE
    INSERT INTO @pick (lo, at, n, suspect)
    SELECT TOP (@take) r.lo, r.at, r.n, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, ROWLOCK)
     WHERE r.lane = @lane AND r.at <= @now AND r.suspect = 0 ORDER BY r.at, r.lo;
    SELECT @seen = COUNT(*) FROM @pick;
    IF @seen = 0 BREAK;
    DELETE FROM @pick WHERE lo IN (
      SELECT x.lo FROM (SELECT p.lo, SUM(p.n) OVER (ORDER BY p.at, p.lo ROWS UNBOUNDED PRECEDING) - p.n AS before FROM @pick p) x WHERE x.before >= @need);
    DELETE r
    OUTPUT deleted.at, deleted.lo, deleted.n, deleted.retry, deleted.suspect INTO @cut (at, lo, n, retry, suspect)
      FROM @pick p INNER LOOP JOIN pawl.outbox_ready r WITH (ROWLOCK, FORCESEEK) ON r.lane = @lane AND r.at = p.at AND r.lo = p.lo;
    UPDATE c SET m = CASE WHEN @need - x.before < c.n THEN @need - x.before ELSE c.n END
      FROM @cut c INNER JOIN (SELECT y.lo, SUM(y.n) OVER (ORDER BY y.at, y.lo ROWS UNBOUNDED PRECEDING) - y.n AS before FROM @cut y) x ON x.lo = c.lo;
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT @lane, c.at, c.lo + c.m, c.n - c.m, c.retry, c.suspect FROM @cut c WHERE c.m < c.n;
    pawl.islands(@nr, @level)
    INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until)
    SELECT r.lo, r.n, @lane, r.at, r.retry, @owner, @until FROM @runs r WHERE r.nr = @nr;
    SELECT @got = coalesce(SUM(c.m), 0) FROM @cut c;
    SET @need = @need - @got;
    SET @take = @need * @seen / NULLIF(@got, 0) + 1;
    IF @take IS NULL OR @take > @need SET @take = @need;
    IF @take > 1000 SET @take = 1000;
  END;
END;
pawl.claimed_rows()
END
