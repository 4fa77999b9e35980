-- add_turns(beside)
-- Adds messages that take turns to @runs, of @need: see outbox_claim_turns.
IF @need > 0
BEGIN
  EXEC pawl.outbox_claim_turns @queue, @owner, @lease, @need, @versioned, {beside}, @turns OUTPUT;
  SELECT @base = coalesce(MAX(r.nr), 0) FROM @runs r;
  INSERT INTO @runs (nr, at, lo, n, retry, priority)
  SELECT @base + x.nr, @now, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@turns) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
  SELECT @part = coalesce(SUM(r.n), 0) FROM @runs r WHERE r.nr > @base;
  SELECT @nr = coalesce(MAX(r.nr), 0) FROM @runs r;
  SET @need = @need - @part;
END;
