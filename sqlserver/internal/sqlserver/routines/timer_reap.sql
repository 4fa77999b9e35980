-- Put up to 1 000 claimed timers back whose lease has run out (D-73), as suspects. As in
-- the outbox only one that was claimed alone as a suspect has failed an attempt. Returns
-- how many.
CREATE PROCEDURE pawl.timer_reap AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @got int;
DECLARE @pick TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
INSERT INTO @pick (id)
SELECT TOP (1000) t.id FROM pawl.timer t WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK, INDEX (claimed)) WHERE t.status = 1 AND t.locked_until < @now;
UPDATE t
   SET status = 0, at = @now, retry_count = retry_count + CASE suspect WHEN 1 THEN 1 ELSE 0 END, owner = NULL, claimed_at = NULL, locked_until = NULL,
       last_error = CASE suspect WHEN 1 THEN N'lease expired' ELSE last_error END, suspect = CASE suspect WHEN 0 THEN 1000 ELSE (suspect + 1) / 2 END
  FROM @pick p INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = p.id WHERE t.status = 1 AND t.locked_until < @now;
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
