-- Claim messages of a queue that take turns (ordering.FairAt): one of each key that has some, from a key that is
-- chosen at random, then as many of each as are needed, the keys going first that have few. @most at most; half of
-- them with @beside, while other messages of the queue are due. They are put back as others of the queue are.
-- @claimed: the runs, or null. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_turns @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @beside bit, @claimed nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
pawl.claim_tables()
DECLARE @ready bigint, @start datetime2(7), @from datetime2(7), @to datetime2(7), @turn datetime2(7), @round int = 0, @lap int, @each bigint = 1, @keys int;
SET @claimed = NULL;
SELECT @lane = l.id FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 1 AND l.priority = 0;
IF @lane IS NULL OR pawl.paused(@queue) OR NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = @lane AND r.at >= pawl.turns_from() AND r.at < pawl.turns_to() AND r.suspect = 0) RETURN;
IF @beside = 1 AND EXISTS (
  SELECT 1 FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at) d
   WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0)
  SET @need = CASE WHEN RAND() < 0.5 THEN @most / 2 ELSE (@most + 1) / 2 END; -- of one by one every other
EXEC pawl.outbox_lane_id @queue, 0, @ready OUTPUT;
SET @start = DATEADD(microsecond, CAST(FLOOR(RAND() * 1000000) AS int), DATEADD(second, CAST(FLOOR(RAND() * 4294) AS int), pawl.turns_from()));
WHILE @round < 4 AND @need > 0
BEGIN
  SELECT @round = @round + 1, @keys = 0, @lap = 0;
  WHILE @lap < 2 AND @need > 0 -- to the end, then from the beginning
  BEGIN
    SET @lap = @lap + 1;
    SELECT @from = CASE @lap WHEN 1 THEN @start ELSE pawl.turns_from() END, @to = CASE @lap WHEN 1 THEN pawl.turns_to() ELSE @start END;
    WHILE @need > 0
    BEGIN
      SET @turn = NULL;
      SELECT TOP (1) @turn = r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = @lane AND r.at >= @from AND r.at < @to AND r.suspect = 0 ORDER BY r.at;
      IF @turn IS NULL BREAK;
      SET @from = DATEADD(microsecond, 1, @turn);
      SET @keys = @keys + 1;
      SET @nr = @nr + 1;
      SET @take = CASE WHEN @each < @need THEN @each ELSE @need END;
      IF @take > 1000 SET @take = 1000;
      DELETE FROM @pick;
      DELETE FROM @cut;
      IF @versioned = 1
      INSERT INTO @pick (lo, at, n, suspect)
      SELECT TOP (@take) r.lo, r.at, r.n, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
       WHERE r.lane = @lane AND r.at = @turn AND r.suspect = 0 ORDER BY r.at, r.lo;
      ELSE
      INSERT INTO @pick (lo, at, n, suspect)
      SELECT TOP (@take) r.lo, r.at, r.n, r.suspect FROM pawl.outbox_ready r WITH (READPAST, UPDLOCK, ROWLOCK)
       WHERE r.lane = @lane AND r.at = @turn AND r.suspect = 0 ORDER BY r.at, r.lo;
      pawl.cut_picked(@lane, @take)
      pawl.islands(@nr, 0)
      INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until)
      SELECT r.lo, r.n, @ready, @now, r.retry, @owner, @until FROM @runs r WHERE r.nr = @nr;
      SELECT @part = coalesce(SUM(c.m), 0) FROM @cut c;
      SET @need = @need - @part;
    END;
  END;
  IF @keys = 0 BREAK;
  SET @each = CASE @round WHEN 3 THEN @need ELSE (@need + @keys - 1) / @keys END;
END;
pawl.claimed_runs()
END
