-- Let the lease of runs, a JSON array with owner, lo and n, last for @lease microseconds
-- from now. Runs that are held as they were claimed keep their rows. Returns how many
-- messages.
CREATE PROCEDURE pawl.outbox_extend_runs @runs nvarchar(max), @lease bigint AS
BEGIN
DECLARE @until datetime2(7), @got bigint = 0;
DECLARE @held TABLE (nr int NOT NULL, n bigint NOT NULL);
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint) x;
SELECT @nr = 1, @last = MAX(nr) FROM @run;
WHILE @nr <= @last
BEGIN
  SELECT @by = owner, @from = lo, @end = lo + n FROM @run WHERE nr = @nr;
  SET @until = pawl.plus(SYSUTCDATETIME(), @lease);
  UPDATE pawl.outbox_claimed WITH (ROWLOCK) SET locked_until = @until
  OUTPUT @nr, inserted.n INTO @held (nr, n)
   WHERE lo >= @from AND lo < @end AND lo + n <= @end AND owner = @by;
  SET @nr = @nr + 1;
END;
SELECT @got = coalesce(SUM(h.n), 0) FROM @held h;
DELETE r FROM @run r WHERE r.n = (SELECT SUM(h.n) FROM @held h WHERE h.nr = r.nr);
IF EXISTS (SELECT 1 FROM @run)
BEGIN
  SELECT @got = coalesce(SUM(h.n), 0) FROM @held h WHERE h.nr NOT IN (SELECT r.nr FROM @run r);
  pawl.take()
  SET @until = pawl.plus(SYSUTCDATETIME(), @lease);
  INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until, suspect)
  SELECT t.lo, t.n, t.lane, t.at, t.retry, t.owner, @until, t.suspect FROM @taken t;
  SET @got = @got + (SELECT coalesce(SUM(t.n), 0) FROM @taken t);
END;
pawl.end_own()
RETURN @got;
END
