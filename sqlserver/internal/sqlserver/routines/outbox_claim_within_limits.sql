-- Claim from a queue while there are limits: @what is N'regular' or N'suspects', the other parameters are
-- those of outbox_claim_queue and outbox_claim_queue_suspects. From the lanes of limits as many are
-- claimed as these allow: of half the messages first, then those that no topic's limit holds for
-- (outbox_claim_open), then of what room is left. Neither keeps the other from being claimed, unless its
-- priority does. The lane whose oldest message comes first goes first. Among queues that
-- share a topic's limit the place is left to that one if it has asked for it a short while ago or
-- while the rate allowed none: whoever frees a place would always take it again. A lane asks when a
-- claim that could take more found no room for it; one that has left a place to another does not, or
-- two could go on leaving it to each other.
CREATE PROCEDURE pawl.outbox_claim_within_limits @what nvarchar(10), @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @quiet bit, @got bigint OUTPUT, @answer nvarchar(10), @claimed nvarchar(max) OUTPUT, @wait bigint, @apart nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @part nvarchar(10) = N'first', @top int, @room int = 0, @left int, @n int, @patience int = 100, @nr int, @base int, @lane bigint, @name nvarchar(510), @free int;
DECLARE @at datetime2(7), @urgency int, @ahead bit, @recent datetime2(7), @late datetime2(7), @of_queue bigint, @of_topic bigint, @lanes_of nvarchar(100), @some nvarchar(max);
DECLARE @until datetime2(7) = pawl.plus(@now, @lease);
DECLARE @lanes TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, priority int NOT NULL, at datetime2(7) NOT NULL);
DECLARE @yielded TABLE (id bigint NOT NULL);
DECLARE @asks TABLE (id bigint NOT NULL PRIMARY KEY, waits bit NOT NULL);
DECLARE @runs TABLE (nr int NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL, PRIMARY KEY (nr, at, lo));
SELECT @got = 0, @claimed = NULL;
pawl.limits_turn(N'Shared', 100)
IF @free >= 0 AND NOT pawl.paused(@queue)
  EXEC pawl.outbox_limit_room N'queue', @queue, @most, @patience OUTPUT, @of_queue OUTPUT, @room OUTPUT;
SELECT @top = MIN(l.priority) FROM pawl.outbox_lane l
 WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0
   AND (@what = N'regular' AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0)
     OR @what = N'suspects' AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect > 0));
SET @top = coalesce(@top, 32767);
WHILE @part IS NOT NULL AND @room > 0 AND (@what = N'regular' OR @got = 0)
BEGIN
  IF @part = N'open'
  BEGIN
    EXEC pawl.outbox_claim_open @what, @queue, @owner, @lease, @room, @versioned, @of_queue, @wait, @apart, @some OUTPUT;
    pawl.add_runs()
    SET @part = N'rest';
    CONTINUE;
  END;
  DELETE FROM @lanes;
  SET @now = SYSUTCDATETIME();
  SET @recent = DATEADD(second, -3, @now);
  SET @late = CASE WHEN @wait IS NULL THEN '0001-01-01' ELSE pawl.minus(@now, @wait) END;
  INSERT INTO @lanes (nr, id, topic, priority, at)
  SELECT ROW_NUMBER() OVER (ORDER BY CASE WHEN x.at < @late THEN 0 ELSE 1 END, CASE WHEN x.at < @late THEN 0 ELSE x.priority END, x.at, x.id), x.id, x.topic, x.priority, x.at
    FROM (SELECT l.id, l.topic, l.priority, h.at FROM pawl.outbox_lane l
           CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at) h
           WHERE @what = N'regular' AND pawl.exactly(l.queue, @queue) AND l.kind = 3
          UNION ALL
          SELECT l.id, l.topic, l.priority, h.at FROM pawl.outbox_lane l
           CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect > 0 ORDER BY r.at) h
           WHERE @what = N'suspects' AND pawl.exactly(l.queue, @queue) AND l.kind = 3) x
   WHERE @part = N'rest' OR x.priority <= @top OR x.at < @late;
  SET @left = CASE WHEN @part = N'rest' OR @what = N'suspects' THEN @room WHEN RAND() < 0.5 THEN @room / 2 ELSE (@room + 1) / 2 END;
  SELECT @nr = MIN(x.nr) FROM @lanes x;
  WHILE @nr IS NOT NULL AND @left > 0 AND (@what = N'regular' OR @got = 0)
  BEGIN
    SELECT @lane = x.id, @name = x.topic, @at = x.at, @urgency = CASE WHEN x.at < @late THEN 0 ELSE x.priority END, @ahead = 0, @n = 0 FROM @lanes x WHERE x.nr = @nr;
    IF @what = N'regular' AND EXISTS (
      SELECT 1 FROM pawl.outbox_lane o pawl.unlocked()
       CROSS APPLY (SELECT TOP (1) r.at, CASE WHEN r.at < @late THEN 0 ELSE 1 END AS punctual, CASE WHEN r.at < @late THEN 0 ELSE o.priority END AS urgency
                      FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = o.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at) h
       WHERE pawl.exactly(o.topic, @name) AND o.kind = 3 AND NOT pawl.exactly(o.queue, @queue) AND NOT pawl.paused(o.queue)
         AND (o.asked > @recent
           OR EXISTS (SELECT 1 FROM pawl.outbox_limit f pawl.unlocked() WHERE f.kind = N'topic' AND pawl.exactly(f.name, @name) AND f.rate IS NOT NULL
                         AND o.asked > CASE WHEN f.next_at > @recent THEN DATEADD(second, -3, pawl.minus(f.next_at, f.period * f.burst / f.rate)) END))
         AND (h.punctual < CASE WHEN @at < @late THEN 0 ELSE 1 END
           OR h.punctual = CASE WHEN @at < @late THEN 0 ELSE 1 END
              AND (h.urgency < @urgency OR h.urgency = @urgency AND (h.at < @at OR h.at = @at AND o.id < @lane))))
    BEGIN
      SET @ahead = 1;
      INSERT INTO @yielded (id) VALUES (@lane);
    END;
    IF @ahead = 0
      EXEC pawl.outbox_limit_room N'topic', @name, @left, @patience OUTPUT, @of_topic OUTPUT, @n OUTPUT;
    IF @n > 0
    BEGIN
      SET @lanes_of = CONCAT(N'[{"id":', @lane, N'}]');
      EXEC pawl.outbox_claim_lanes @what, @lanes_of, @queue, @owner, @lease, @n, @versioned, NULL, @some OUTPUT;
      EXEC pawl.outbox_limit_use @of_topic, @some;
      EXEC pawl.outbox_limit_use @of_queue, @some;
      pawl.add_runs()
      SET @left = @left - @n;
    END;
    SELECT @nr = MIN(x.nr) FROM @lanes x WHERE x.nr > @nr;
  END;
  SET @part = CASE @part WHEN N'first' THEN N'open' END;
END;
IF @what = N'regular'
  INSERT INTO @asks (id, waits)
  SELECT l.id, CASE WHEN @room > 0 AND NOT EXISTS (SELECT 1 FROM @yielded y WHERE y.id = l.id) THEN 1 ELSE 0 END FROM pawl.outbox_lane l pawl.unlocked()
   WHERE pawl.exactly(l.queue, @queue) AND l.kind = 3
     AND ((@room <= 0 OR EXISTS (SELECT 1 FROM @yielded y WHERE y.id = l.id)) AND l.asked IS NOT NULL
       OR @room > 0 AND NOT EXISTS (SELECT 1 FROM @yielded y WHERE y.id = l.id) AND (l.asked IS NULL OR l.asked <= DATEADD(second, -1, @now))
          AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0)
          AND EXISTS (SELECT 1 FROM pawl.outbox_lane o WHERE pawl.exactly(o.topic, l.topic) AND o.kind = 3 AND NOT pawl.exactly(o.queue, l.queue)
                        AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = o.id AND r.at <= @now AND r.suspect = 0)));
IF EXISTS (SELECT 1 FROM @asks a WHERE a.waits = 1)
  UPDATE pawl.outbox_lane WITH (ROWLOCK) SET asked = @now WHERE id IN (SELECT a.id FROM @asks a WHERE a.waits = 1);
IF EXISTS (SELECT 1 FROM @asks a WHERE a.waits = 0)
  UPDATE pawl.outbox_lane WITH (ROWLOCK) SET asked = NULL WHERE id IN (SELECT a.id FROM @asks a WHERE a.waits = 0);
IF @got = 0 AND @quiet = 1 RETURN;
pawl.claimed_rows()
END
