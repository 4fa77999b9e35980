-- Delete what a limit for each topic of a pattern left where it is not in use: rows of topics under
-- which nothing is claimed and whose rate is saved up, and lanes of topics that have no row, if
-- nothing is in them nor comes back to them. Every claim that obeys limits reads the lanes of its
-- queue, so there must be no more of them than are in use. Nobody claims under limits meanwhile: all
-- that moves is what comes back from a claim, so a lane that nothing is claimed from at first, and
-- that is empty then, stays empty. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_limit_purge AS
BEGIN
SET NOCOUNT ON;
SET LOCK_TIMEOUT 100;
DECLARE @free int, @row int, @topic nvarchar(510), @patience int, @limit bigint, @n int;
DECLARE @abort bit = CASE WHEN @@OPTIONS & 16384 = 16384 THEN 1 ELSE 0 END;
DECLARE @topics TABLE (nr int NOT NULL PRIMARY KEY, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @idle TABLE (lane bigint NOT NULL PRIMARY KEY);
IF NOT EXISTS (SELECT 1 FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'topic' AND l.pattern <> N'')
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_lane q WHERE q.kind = 3 AND NOT EXISTS (
         SELECT 1 FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'topic' AND pawl.exactly(l.name, q.topic)))
  RETURN;
pawl.limits_turn(N'Exclusive', 100)
IF @free < 0 RETURN;
SET XACT_ABORT OFF; -- or a lock that is not to be had would end the transaction
BEGIN TRY
INSERT INTO @topics (nr, topic) SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY l.seq), l.name FROM pawl.outbox_limit l WHERE l.pattern <> N'';
SELECT @row = MIN(x.nr) FROM @topics x;
WHILE @row IS NOT NULL
BEGIN
  SELECT @topic = x.topic, @patience = 0 FROM @topics x WHERE x.nr = @row;
  EXEC pawl.outbox_limit_room N'topic', @topic, 1, @patience OUTPUT, @limit OUTPUT, @n OUTPUT; -- forgets what is no longer claimed
  DELETE FROM pawl.outbox_limit
   WHERE seq = @limit AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit)
     AND (rate IS NULL OR next_at <= pawl.minus(SYSUTCDATETIME(), "period" * (burst - 1) / rate));
  SELECT @row = MIN(x.nr) FROM @topics x WHERE x.nr > @row;
END;
INSERT INTO @idle (lane)
SELECT TOP (1000) q.id FROM pawl.outbox_lane q
 WHERE q.kind = 3 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit l WHERE l.kind = N'topic' AND pawl.exactly(l.name, q.topic))
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_claimed c WHERE c.lane = q.id);
DELETE l FROM pawl.outbox_lane l INNER JOIN @idle x ON x.lane = l.id WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = l.id);
END TRY
BEGIN CATCH
IF @abort = 1 SET XACT_ABORT ON;
IF ERROR_NUMBER() <> 1222 THROW; -- the next time
END CATCH;
IF @abort = 1 SET XACT_ABORT ON;
END
