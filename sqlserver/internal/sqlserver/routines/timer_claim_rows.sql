-- Take up to @most due timers under a lease of @lease microseconds, to fire them in a way of
-- one's own: suspects, as in outbox_claim_queue_suspects, or others. What somebody has locked
-- is passed over; lane lies in no index, so what is picked is the row, and the update waits
-- for nobody. @ids: the positions of what was taken, a JSON array of objects with id; null
-- for none.
CREATE PROCEDURE pawl.timer_claim_rows @owner uniqueidentifier, @lease bigint, @most int, @ids nvarchar(max) OUTPUT AS
BEGIN
DECLARE @now datetime2(7), @suspect int;
DECLARE @pick TABLE (id bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, suspect int NOT NULL, lane bigint NOT NULL);
DECLARE @got TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.at_most(@most)
pawl.begin_own()
EXEC pawl.timer_reap;
SET @now = SYSUTCDATETIME();
INSERT INTO @pick (id, at, suspect, lane)
SELECT TOP (@most) t.id, t.at, t.suspect, t.lane FROM pawl.timer t WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK, INDEX (suspect))
 WHERE t.status = 0 AND t.suspect > 0 AND t.at <= @now ORDER BY t.at, t.id;
DELETE FROM @pick WHERE id IN (
  SELECT x.id FROM (SELECT p.id, ROW_NUMBER() OVER (ORDER BY p.at, p.id) AS k, MIN(p.suspect) OVER (ORDER BY p.at, p.id ROWS UNBOUNDED PRECEDING) AS most FROM @pick p) x
   WHERE x.k > x.most);
SELECT @suspect = COUNT(*) FROM @pick;
IF @suspect = 0
  INSERT INTO @pick (id, at, suspect, lane)
  SELECT TOP (@most) t.id, t.at, t.suspect, t.lane FROM pawl.timer t WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK, INDEX (pending))
   WHERE t.status = 0 AND t.suspect = 0 AND t.at <= @now ORDER BY t.at, t.id;
SET @now = SYSUTCDATETIME();
UPDATE t SET status = 1, owner = @owner, claimed_at = @now, locked_until = pawl.plus(@now, @lease), suspect = @suspect
OUTPUT inserted.id INTO @got (id)
  FROM @pick p INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = p.id WHERE t.status = 0;
SET @ids = (SELECT g.id FROM @got g ORDER BY g.id FOR JSON PATH);
pawl.end_own()
RETURN 0;
END
