-- Park claimed flows, a JSON array with owner, id, name and delay in microseconds, until a signal
-- of the name comes, or until the delay has passed; without one for ever. One that has such a signal,
-- or one that cancels it, is due at once; one to which a transaction that is open sends something is due
-- soon. Counts no attempt. Returns how many their owners held.
CREATE PROCEDURE pawl.flow_park @parks nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @lock nvarchar(255), @free int, @name nvarchar(510), @delay_of bigint, @nth int = 0, @id bigint, @at datetime2(7);
DECLARE @wait TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, delay bigint);
pawl.run_tables()
pawl.begin_own()
INSERT INTO @wait (nr, id, name, delay)
SELECT ROW_NUMBER() OVER (ORDER BY x.id, x.owner), x.id, x.name, x.delay FROM OPENJSON(@parks) WITH (owner uniqueidentifier, id bigint, name nvarchar(510), delay bigint) x;
INSERT INTO @run (nr, owner, lo, n)
SELECT ROW_NUMBER() OVER (ORDER BY x.id, x.owner), x.owner, x.id, 1 FROM OPENJSON(@parks) WITH (owner uniqueidentifier, id bigint) x;
pawl.take()
WHILE 1 = 1
BEGIN
  SELECT @nth = MIN(t.nr) FROM @taken t WHERE t.nr > @nth;
  IF @nth IS NULL BREAK;
  SELECT @id = w.id, @name = w.name, @delay_of = w.delay FROM @wait w WHERE w.nr = @nth;
  SET @got = @got + 1;
  pawl.flow_lock(@id, 0)
  IF @free < 0
    SET @at = DATEADD(millisecond, 100, SYSUTCDATETIME());
  ELSE IF EXISTS (SELECT 1 FROM pawl.flow_signal s WHERE s.id = @id AND (s.name = N'' OR pawl.exactly(s.name, @name))
              AND NOT EXISTS (SELECT 1 FROM pawl.flow_step t WHERE t.id = s.id AND t.signal = s.nr))
    SET @at = SYSUTCDATETIME();
  ELSE
  BEGIN
    SET @at = CASE WHEN @delay_of IS NULL THEN CAST('9999-12-31' AS datetime2(7)) ELSE pawl.plus(SYSUTCDATETIME(), @delay_of) END;
    UPDATE w SET name = @name, since = SYSUTCDATETIME(), retry = t.retry FROM @taken t INNER LOOP JOIN pawl.flow_wait w WITH (FORCESEEK) ON w.id = t.lo WHERE t.nr = @nth;
    IF @@ROWCOUNT = 0
      INSERT INTO pawl.flow_wait (id, name, retry) SELECT @id, @name, t.retry FROM @taken t WHERE t.nr = @nth;
  END;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, @at, t.lo, 1, t.retry FROM @taken t WHERE t.nr = @nth;
END;
pawl.end_own()
RETURN @got;
END
