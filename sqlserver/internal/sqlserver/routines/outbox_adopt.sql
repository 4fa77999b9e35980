-- Make orphaned lanes known again. A lane's id cannot be read backwards, but those
-- of a queue can be computed: of the queues given, a JSON array, of those that have a lane,
-- and of those that somebody works on. Returns how many lanes.
CREATE PROCEDURE pawl.outbox_adopt @queues nvarchar(max) AS
BEGIN
DECLARE @got int = 0;
DECLARE @orphan TABLE (lane bigint NOT NULL PRIMARY KEY);
DECLARE @name TABLE (queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @lane TABLE (id bigint NOT NULL, queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, priority int NOT NULL, kind int NOT NULL);
pawl.begin_own()
INSERT INTO @orphan (lane) SELECT o.lane FROM pawl.outbox_orphans() o;
IF EXISTS (SELECT 1 FROM @orphan)
BEGIN
  INSERT INTO @name (queue)
  SELECT x.value COLLATE Latin1_General_100_BIN2 FROM OPENJSON(@queues) x
  UNION SELECT l.queue FROM pawl.outbox_lane l
  UNION SELECT q.value COLLATE Latin1_General_100_BIN2 FROM pawl.worker_process p CROSS APPLY OPENJSON(CASE WHEN ISJSON(p.queues) = 1 THEN p.queues ELSE N'[]' END) q;
  INSERT INTO @lane (id, queue, priority, kind)
  SELECT pawl.outbox_lane_number(x.queue, k.i - 100, 0), x.queue, k.i - 100, 0 FROM @name x CROSS JOIN pawl.numbers() k WHERE k.i <= 200
  UNION ALL SELECT pawl.outbox_lane_number(x.queue, 0, y.kind), x.queue, 0, y.kind FROM @name x CROSS JOIN (VALUES (1), (2)) y(kind);
  WHILE 1 = 1
  BEGIN
    pawl.begin_insert()
    INSERT INTO pawl.outbox_lane (id, queue, priority, kind)
    SELECT l.id, l.queue, l.priority, l.kind FROM @lane l INNER JOIN @orphan o ON o.lane = l.id
     WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_lane x WHERE x.id = l.id);
    SET @got = @@ROWCOUNT;
    pawl.end_insert()
    IF @known = 0 BREAK; -- otherwise somebody made one since the look
  END;
END;
pawl.end_own()
RETURN @got;
END
