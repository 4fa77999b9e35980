-- Store a job. Returns 0 if it is stored like this. Unless the schedule changes, the next
-- time stays (D-83). Of two that store one at once the insert of the second waits, and finds it stored.
-- Texts and payloads are compared with their lengths: what ends with blanks or zeros would
-- otherwise equal what does not.
CREATE PROCEDURE pawl.job_put_row @id uniqueidentifier, @name nvarchar(510), @topic nvarchar(510), @payload varbinary(max), @headers nvarchar(max), @lane bigint, @schedule nvarchar(max),
  @zone nvarchar(510), @misfire smallint, @misfire_limit int, @overlap smallint, @spread bigint, @shift bigint, @next_time datetime2(7), @due_at datetime2(7) AS
BEGIN
DECLARE @got int = 0, @seen bit, @now datetime2(7);
pawl.begin_own()
WHILE 1 = 1
BEGIN
  SET @seen = 0;
  SELECT @seen = 1 FROM pawl.job j WITH (UPDLOCK) WHERE pawl.exactly(j.name, @name);
  IF @seen = 1
  BEGIN
    SET @now = SYSUTCDATETIME();
    UPDATE pawl.job SET
      topic = @topic, payload = @payload, headers = @headers, lane = @lane, schedule = @schedule, zone = @zone,
      misfire = @misfire, misfire_limit = @misfire_limit, overlap = @overlap, spread = @spread, shift = @shift,
      next_time = CASE WHEN enabled = 0 THEN NULL WHEN schedule = @schedule AND zone = @zone AND next_time IS NOT NULL THEN next_time ELSE @next_time END,
      due_at = CASE WHEN enabled = 0 THEN NULL WHEN schedule <> @schedule OR zone <> @zone OR next_time IS NULL THEN @due_at
                    WHEN shift <> @shift THEN pawl.plus(next_time, @shift) ELSE due_at END,
      last_error = CASE WHEN schedule = @schedule AND zone = @zone THEN last_error END,
      version = version + 1, updated_at = @now
    WHERE pawl.exactly(name, @name)
      AND (enabled = 1 AND next_time IS NULL
        OR NOT EXISTS (
          SELECT topic, DATALENGTH(topic), payload, DATALENGTH(payload), headers, DATALENGTH(headers), lane, schedule, DATALENGTH(schedule), zone, DATALENGTH(zone), misfire, misfire_limit, overlap, spread, shift
          INTERSECT
          SELECT @topic, DATALENGTH(@topic), @payload, DATALENGTH(@payload), @headers, DATALENGTH(@headers), @lane, @schedule, DATALENGTH(@schedule), @zone, DATALENGTH(@zone), @misfire, @misfire_limit, @overlap, @spread, @shift));
    SET @got = @@ROWCOUNT;
    BREAK;
  END;
  pawl.begin_insert()
  INSERT INTO pawl.job (id, name, topic, payload, headers, lane, schedule, zone, misfire, misfire_limit, overlap, spread, shift, next_time, due_at)
  VALUES (@id, @name, @topic, @payload, @headers, @lane, @schedule, @zone, @misfire, @misfire_limit, @overlap, @spread, @shift, @next_time, @due_at);
  SET @got = 1;
  pawl.end_insert()
  IF @known = 0 BREAK; -- otherwise it is stored since the look
  IF EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = @id AND NOT (pawl.exactly(j.name, @name))) EXEC pawl.check_refuse N'id', N'another job''s';
END;
pawl.end_own()
RETURN @got;
END
