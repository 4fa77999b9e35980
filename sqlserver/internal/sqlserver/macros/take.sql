-- take()
-- Takes the runs of @run out of what their owners have claimed, and notes in @taken exactly
-- what was taken. What lies wholly inside goes at once. Then, run by run, what is cut: one
-- that somebody moves meanwhile makes the delete find nothing, and the next look sees
-- where it went, so nothing is missed and nothing taken twice.
SELECT @nr = MIN(nr), @last = MAX(nr) FROM @run;
WHILE @nr <= @last
BEGIN
  SELECT @by = owner, @from = lo, @end = lo + n FROM @run WHERE nr = @nr;
  DELETE FROM pawl.outbox_claimed WITH (ROWLOCK)
  OUTPUT @nr, deleted.lo, deleted.n, deleted.lane, deleted.at, deleted.retry, deleted.owner, deleted.locked_until, deleted.suspect
    INTO @taken (nr, lo, n, lane, at, retry, owner, locked_until, suspect)
   WHERE lo >= @from AND lo < @end AND lo + n <= @end AND owner = @by;
  IF (SELECT SUM(t.n) FROM @taken t WHERE t.nr = @nr) = @end - @from SET @from = @end;
  WHILE @from < @end
  BEGIN
    SET @found = 0;
    SELECT TOP (1) @lo = c.lo, @n = c.n, @who = c.owner, @found = 1 FROM pawl.outbox_claimed c WHERE c.lo <= @from ORDER BY c.lo DESC;
    IF @found = 0 OR @lo + @n <= @from
    BEGIN
      SET @found = 0;
      SELECT TOP (1) @lo = c.lo, @n = c.n, @who = c.owner, @found = 1 FROM pawl.outbox_claimed c WHERE c.lo > @from AND c.lo < @end ORDER BY c.lo;
      IF @found = 0 BREAK;
    END;
    IF @who <> @by
    BEGIN
      SET @from = @lo + @n;
      CONTINUE;
    END;
    DELETE FROM @one;
    DELETE FROM pawl.outbox_claimed WITH (ROWLOCK)
    OUTPUT deleted.lo, deleted.n, deleted.lane, deleted.at, deleted.retry, deleted.owner, deleted.locked_until, deleted.suspect
      INTO @one (lo, n, lane, at, retry, owner, locked_until, suspect)
     WHERE lo = @lo AND n = @n AND owner = @by;
    IF NOT EXISTS (SELECT 1 FROM @one) CONTINUE;
    IF @lo > @from SET @from = @lo;
    INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until, suspect)
    SELECT p.lo, p.n, x.lane, x.at, x.retry, x.owner, x.locked_until, x.suspect
      FROM @one x CROSS APPLY (VALUES (x.lo, @from - x.lo), (@end, x.lo + x.n - @end)) p(lo, n) WHERE p.n > 0;
    INSERT INTO @taken (nr, lo, n, lane, at, retry, owner, locked_until, suspect)
    SELECT @nr, @from, CASE WHEN x.lo + x.n < @end THEN x.lo + x.n ELSE @end END - @from, x.lane, x.at, x.retry, x.owner, x.locked_until, x.suspect FROM @one x;
    SET @from = @lo + @n;
  END;
  SET @nr = @nr + 1;
END;
