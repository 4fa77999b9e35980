-- Move jobs on to their next times and make the runs between, unless somebody else did or
-- the job is another by now (D-82). JSON arrays: the jobs with id, version, from, to and due,
-- when they are due then; the runs with job_id, nominal, id, run_id and missed, how many times
-- were (0: a run). Returns how many messages there are.
CREATE PROCEDURE pawl.job_fire @jobs nvarchar(max), @runs nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @one int, @nr int = 0, @of int, @last int, @lastrun int, @job uniqueidentifier, @version bigint, @since datetime2(7), @next datetime2(7), @due datetime2(7);
DECLARE @id bigint, @run uniqueidentifier, @nominal datetime2(7), @missed bigint;
DECLARE @plan TABLE (nr int NOT NULL PRIMARY KEY, id uniqueidentifier NOT NULL, version bigint NOT NULL, since datetime2(7) NOT NULL, next datetime2(7), due datetime2(7));
DECLARE @make TABLE (nr int NOT NULL PRIMARY KEY, job_id uniqueidentifier NOT NULL, nominal datetime2(7) NOT NULL, id bigint NOT NULL, run uniqueidentifier NOT NULL, missed bigint NOT NULL);
pawl.begin_own()
INSERT INTO @plan (nr, id, version, since, next, due)
SELECT ROW_NUMBER() OVER (ORDER BY x.id), x.id, x.version, x.since, x.next, x.due
  FROM OPENJSON(@jobs) WITH (id uniqueidentifier, version bigint, since datetime2(7) '$.from', next datetime2(7) '$.to', due datetime2(7)) x;
INSERT INTO @make (nr, job_id, nominal, id, run, missed)
SELECT ROW_NUMBER() OVER (ORDER BY x.nominal, x.id), x.job_id, x.nominal, x.id, x.run_id, x.missed
  FROM OPENJSON(@runs) WITH (job_id uniqueidentifier, nominal datetime2(7), id bigint, run_id uniqueidentifier, missed bigint) x;
SELECT @last = MAX(p.nr) FROM @plan p;
WHILE @nr < @last
BEGIN
  SET @nr = @nr + 1;
  SELECT @job = p.id, @version = p.version, @since = p.since, @next = p.next, @due = p.due FROM @plan p WHERE p.nr = @nr;
  UPDATE pawl.job SET next_time = @next, due_at = @due, last_error = NULL WHERE id = @job AND version = @version AND next_time = @since AND enabled = 1;
  IF @@ROWCOUNT = 0 CONTINUE;
  SET @of = 0;
  WHILE 1 = 1
  BEGIN
    SET @lastrun = @of;
    SELECT TOP (1) @of = m.nr, @id = m.id, @run = m.run, @nominal = m.nominal, @missed = m.missed FROM @make m WHERE m.job_id = @job AND m.nr > @of ORDER BY m.nr;
    IF @of = @lastrun BREAK;
    EXEC @one = pawl.job_make_run @job, @id, @run, @nominal, @missed, 0;
    SET @got = @got + @one;
  END;
END;
pawl.end_own()
RETURN @got;
END
