-- Delete a job and its pending runs; one that is running goes on to its end (D-84). Returns
-- 0 for an unknown job.
CREATE PROCEDURE pawl.job_remove @name nvarchar(510) AS
BEGIN
DECLARE @job uniqueidentifier, @now datetime2(7), @got int = 0, @spans nvarchar(max);
pawl.withdraw_tables()
pawl.begin_own()
SELECT @job = j.id FROM pawl.job j WITH (UPDLOCK, REPEATABLEREAD) WHERE pawl.exactly(j.name, @name);
IF @job IS NOT NULL
BEGIN
  INSERT INTO @want (id) SELECT r.id FROM pawl.job_run r WHERE r.job_id = @job AND r.outcome IS NULL;
  pawl.withdraw(pawl.forever())
  SET @now = SYSUTCDATETIME();
  UPDATE e SET status = 4, next_attempt_at = NULL, last_error = N'the job was deleted', fingerprint = NULL, updated_at = @now FROM pawl.outbox_exception e INNER JOIN @out o ON o.id = e.id;
  INSERT INTO pawl.outbox_exception (id, status, last_error, updated_at)
  SELECT o.id, 4, N'the job was deleted', @now FROM @out o WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = o.id) ORDER BY o.id;
  IF EXISTS (SELECT 1 FROM @out o INNER JOIN pawl.outbox_join_member m ON m.id = o.id WHERE m.status = 0)
  BEGIN
    SET @spans = (SELECT o.id AS lo, 1 AS n FROM @out o ORDER BY o.id FOR JSON PATH);
    EXEC pawl.outbox_join_settle @spans;
  END;
  DELETE FROM pawl.job_run WHERE id IN (SELECT o.id FROM @out o);
  DELETE FROM pawl.job WHERE id = @job;
  SET @got = 1;
END;
pawl.end_own()
RETURN @got;
END
