-- Write down how runs ended whose messages are done or discarded. Failed ones may be
-- redriven yet, and their messages stay: they are followed on. Returns how many.
CREATE PROCEDURE pawl.job_settle AS
BEGIN
DECLARE @got int = 0, @some int = 1000;
DECLARE @over TABLE (id bigint NOT NULL PRIMARY KEY, status smallint NOT NULL, end_time datetime2(7), retry_count int NOT NULL, claimed_by nvarchar(510) COLLATE Latin1_General_100_BIN2,
  last_error nvarchar(max) COLLATE Latin1_General_100_BIN2);
pawl.begin_own()
WHILE @some = 1000
BEGIN
  DELETE FROM @over;
  INSERT INTO @over (id, status, end_time, retry_count, claimed_by, last_error)
  SELECT TOP (1000) i.id, i.status, i.end_time, i.retry_count, i.claimed_by, i.last_error
    FROM pawl.job_run_item i WHERE i.outcome IS NULL AND i.status IN (2, 4) ORDER BY i.id;
  SET @some = @@ROWCOUNT;
  UPDATE r SET outcome = o.status, end_time = o.end_time, retry_count = o.retry_count, claimed_by = o.claimed_by, last_error = o.last_error
    FROM pawl.job_run r INNER JOIN @over o ON o.id = r.id WHERE r.outcome IS NULL;
  SET @got = @got + @@ROWCOUNT;
END;
pawl.end_own()
RETURN @got;
END
