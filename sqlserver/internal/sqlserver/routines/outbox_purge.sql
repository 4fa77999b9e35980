-- Delete messages done, discarded or expired longer ago than @age microseconds, looking at the @look
-- lowest runs: looking only at the low end bounds the work without an index. What a pending
-- join counts on stays (D-25); that is asked again once a run is locked, for somebody may
-- have attached one meanwhile. One process at a time: the others find the lock taken and
-- nothing to do. Returns how many.
CREATE PROCEDURE pawl.outbox_purge @age bigint, @look int AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @before datetime2(7) = pawl.minus(SYSUTCDATETIME(), @age), @keys bit = 0, @got int = 0, @free int, @lo bigint, @n bigint, @kind int, @some int;
DECLARE @low TABLE (lo bigint NOT NULL, kind int NOT NULL, n bigint NOT NULL, PRIMARY KEY (lo, kind));
DECLARE @gone TABLE (lo bigint NOT NULL, n bigint NOT NULL);
pawl.begin_own()
EXEC @free = sys.sp_getapplock @Resource = N'pawl.outbox_purge', @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;
IF @free >= 0
BEGIN
  INSERT INTO @low (lo, kind, n)
  SELECT x.lo, 0, x.n FROM (SELECT TOP (@look) d.lo, d.n, d.processed_at FROM pawl.outbox_done d WHERE NOT pawl.needed(d.lo, d.n) ORDER BY d.lo) x WHERE x.processed_at < @before;
  INSERT INTO @low (lo, kind, n)
  SELECT x.id, 1, 1 FROM (VALUES (4), (5)) s(status) CROSS APPLY (
    SELECT TOP (@look) e.id, e.updated_at FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = s.status AND NOT pawl.needed(e.id, 1) ORDER BY e.id) x
   WHERE x.updated_at < @before;
END;
IF EXISTS (SELECT 1 FROM pawl.outbox_unique) SET @keys = 1;
WHILE EXISTS (SELECT 1 FROM @low)
BEGIN
  SELECT TOP (1) @lo = w.lo, @kind = w.kind FROM @low w ORDER BY w.lo, w.kind;
  DELETE FROM @low WHERE lo = @lo AND kind = @kind;
  DELETE FROM @gone;
  SET @n = NULL;
  IF @kind = 0
  BEGIN
    SELECT @n = d.n FROM pawl.outbox_done d WITH (XLOCK, READPAST, READCOMMITTEDLOCK) WHERE d.lo = @lo;
    IF @n IS NOT NULL
      DELETE FROM pawl.outbox_done OUTPUT deleted.lo, deleted.n INTO @gone (lo, n) WHERE lo = @lo AND NOT pawl.needed(@lo, @n);
  END
  ELSE
  BEGIN
    SELECT @n = 1 FROM pawl.outbox_exception e WITH (XLOCK, READPAST, READCOMMITTEDLOCK) WHERE e.id = @lo AND e.status IN (4, 5);
    IF @n IS NOT NULL
      INSERT INTO @gone (lo, n) SELECT @lo, 1 WHERE NOT pawl.needed(@lo, 1);
  END;
  IF NOT EXISTS (SELECT 1 FROM @gone) CONTINUE;
  DELETE FROM pawl.outbox_exception WHERE id >= @lo AND id < @lo + @n;
  DELETE FROM pawl.outbox_attempt WHERE id >= @lo AND id < @lo + @n;
  DELETE FROM pawl.outbox_result WHERE id >= @lo AND id < @lo + @n;
  DELETE FROM pawl.flow_step WHERE id >= @lo AND id < @lo + @n;
  DELETE FROM pawl.flow_signal WHERE id >= @lo AND id < @lo + @n;
  DELETE FROM pawl.flow_wait WHERE id >= @lo AND id < @lo + @n;
  IF @keys = 1
  BEGIN
    pawl.purge_of_keys(@lo, @n)
  END;
  SET @some = 1;
  WHILE @some > 0
  BEGIN
    DELETE TOP (1000) FROM pawl.outbox_message WHERE id >= @lo AND id < @lo + @n;
    SET @some = @@ROWCOUNT;
    SET @got = @got + @some;
  END;
END;
IF @keys = 1 AND @free >= 0
  DELETE TOP (1000) FROM pawl.outbox_unique WITH (XLOCK, READPAST, READCOMMITTEDLOCK) WHERE id = 0 AND until <= @now;
IF @free >= 0 EXEC pawl.outbox_limit_purge;
pawl.end_own()
RETURN @got;
END
