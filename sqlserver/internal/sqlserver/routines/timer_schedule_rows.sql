-- Schedule timers; due null is now. A pending timer of the same key is replaced: cancelled,
-- or parted from its key if somebody is firing it already. A known id changes nothing,
-- neither itself nor the timer that has its key by now; of one that comes twice the first
-- counts. A position that another timer has is not taken: then it lies elsewhere, found by
-- its mark. Returns how many are stored.
--
-- Keys, and ids that may be known, are locked by their names, all in one order: a lock on a
-- range of an index would keep timers beside it from being dispatched, or from being stored.
CREATE PROCEDURE pawl.timer_schedule_rows @timers pawl.timer_list READONLY AS
BEGIN
DECLARE @now datetime2(7), @after bigint = -1, @some int = 1000, @hash bigint, @lock nvarchar(255), @got int, @all int = 0;
DECLARE @fresh TABLE (id bigint NOT NULL PRIMARY KEY, elsewhere bit NOT NULL DEFAULT 0);
DECLARE @named TABLE (hash bigint NOT NULL PRIMARY KEY);
DECLARE @old TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @stored TABLE (id bigint NOT NULL PRIMARY KEY);
INSERT INTO @named (hash)
SELECT CAST(SUBSTRING(HASHBYTES('SHA2_256', RTRIM(x."key")), 1, 8) AS bigint) FROM @timers x WHERE x."key" IS NOT NULL
UNION SELECT CAST(SUBSTRING(HASHBYTES('SHA2_256', CAST(x.timer_id AS varbinary(16))), 1, 8) AS bigint) FROM @timers x WHERE x.supplied = 1 OR x.carried <> 0;
pawl.begin_own()
SELECT @hash = MIN(n.hash) FROM @named n;
WHILE @hash IS NOT NULL
BEGIN
  SET @lock = CONCAT(N'pawl.timer', N'/', @hash);
  EXEC @got = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction';
  IF @got = -3 THROW 57102, 'chosen as the victim of a deadlock', 1;
  IF @got < 0 THROW 57103, 'the lock of a key or id was not to be had in time', 1;
  SELECT @hash = MIN(n.hash) FROM @named n WHERE n.hash > @hash;
END;
INSERT INTO @fresh (id)
SELECT MIN(x.id) FROM @timers x
 WHERE (x.carried = 0 OR NOT EXISTS (SELECT 1 FROM pawl.timer t WHERE t.id = x.carried AND t.timer_id = x.timer_id))
   AND (x.supplied = 0 OR NOT EXISTS (SELECT 1 FROM pawl.timer t WHERE t.timer_id = x.timer_id AND t.supplied = 1))
 GROUP BY x.timer_id;
DELETE FROM @fresh WHERE id IN (SELECT x.id FROM @timers x INNER JOIN pawl.timer t ON t.id = x.id AND t.timer_id = x.timer_id);
UPDATE @fresh SET elsewhere = 1 WHERE id IN (SELECT t.id FROM pawl.timer t);
SET @now = SYSUTCDATETIME();
INSERT INTO @old (id)
SELECT t.id FROM @timers x INNER JOIN @fresh f ON f.id = x.id INNER LOOP JOIN pawl.timer t ON pawl.exactly(t."key", x."key") AND t."key" IS NOT NULL AND t.status < 2;
UPDATE pawl.timer SET status = CASE status WHEN 0 THEN 4 ELSE status END, processed_at = CASE status WHEN 0 THEN @now END, "key" = CASE status WHEN 0 THEN "key" END
 WHERE id IN (SELECT o.id FROM @old o) AND status < 2;
WHILE @some = 1000
BEGIN
  DELETE FROM @stored;
  INSERT INTO pawl.timer (id, timer_id, supplied, "key", due_time, at, lane, topic, correlation_id, headers, payload)
  OUTPUT inserted.id INTO @stored (id)
  SELECT TOP (1000) x.id, x.timer_id, x.supplied, x."key", coalesce(pawl.from_micros(x.due), @now), coalesce(pawl.from_micros(x.due), @now), x.lane, x.topic, x.correlation_id, x.headers, x.payload
    FROM @timers x INNER JOIN @fresh f ON f.id = x.id WHERE f.elsewhere = 0 AND x.id > @after ORDER BY x.id;
  SET @some = @@ROWCOUNT;
  SET @all = @all + @some;
  IF @some > 0 SELECT @after = MAX(s.id) FROM @stored s;
END;
INSERT INTO pawl.timer (id, timer_id, supplied, "key", due_time, at, lane, topic, correlation_id, headers, payload)
SELECT NEXT VALUE FOR pawl.outbox_single, x.timer_id, 1, x."key", coalesce(pawl.from_micros(x.due), @now), coalesce(pawl.from_micros(x.due), @now), x.lane, x.topic, x.correlation_id, x.headers, x.payload
  FROM @timers x WHERE x.id IN (SELECT f.id FROM @fresh f WHERE f.elsewhere = 1)
   AND NOT EXISTS (SELECT 1 FROM pawl.timer t WHERE t.timer_id = x.timer_id AND t.supplied = 1);
SET @all = @all + @@ROWCOUNT;
pawl.end_own()
RETURN @all;
END
