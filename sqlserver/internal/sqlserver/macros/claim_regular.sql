-- claim_regular(lanes)
-- The claim of up to @most due messages that are no suspects, of outbox_lane l where {lanes}: a
-- destructive read of ready rows in key order. What is locked by someone else is skipped; what a claim
-- got is what its delete returned. The first look is at few rows, each of which may be a long run; the
-- next ones go by what those had. The result, @runs, is in order of priority, time and id.
-- @versioned: the database has READ_COMMITTED_SNAPSHOT ON, where READPAST needs another hint. @wait,
-- microseconds: the lane whose oldest message has been due for longer goes first; null: priority alone
-- decides.
IF @wait IS NOT NULL
  SELECT TOP (1) @late = l.id, @level = l.priority
    FROM pawl.outbox_lane l
   CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at < pawl.minus(@now, @wait) AND r.suspect = 0 ORDER BY r.at, r.lo) head
   WHERE {lanes} ORDER BY head.at, l.priority;
WHILE @need > 0 AND NOT pawl.paused(@queue)
BEGIN
  SET @lane = @late;
  SET @late = NULL;
  IF @lane IS NULL
  BEGIN
    SELECT TOP (1) @lane = l.id, @priority = l.priority FROM pawl.outbox_lane l WHERE {lanes} AND l.priority > @priority ORDER BY l.priority;
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
    pawl.cut_picked(@lane, @need)
    pawl.islands(@nr, @level)
    INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until)
    SELECT r.lo, r.n, @lane, r.at, r.retry, @owner, @until FROM @runs r WHERE r.nr = @nr;
    SELECT @part = coalesce(SUM(c.m), 0) FROM @cut c;
    SET @need = @need - @part;
    SET @take = @need * @seen / NULLIF(@part, 0) + 1;
    IF @take IS NULL OR @take > @need SET @take = @need;
    IF @take > 1000 SET @take = 1000;
  END;
END;
