-- Claim from a queue while there are limits; the parameters are those of outbox_claim_runs and, with
-- @suspects, of outbox_claim_suspect_runs. Messages of topics with limits are moved to lanes of these
-- limits when they are met, so that each is met once and those behind them come through. From such
-- lanes as many are claimed as the limit allows: of half the messages first, then those that no
-- topic's limit holds for, then of what room is left. Neither keeps the other from being claimed,
-- unless its priority does. The lane whose oldest message comes first goes first. Among queues that
-- share a topic's limit the place is left to that one if it has asked for it a short while ago or
-- while the rate allowed none: whoever frees a place would always take it again. A lane asks when a
-- claim that could take more found no room for it; one that has left a place to another does not, or
-- two could go on leaving it to each other.
CREATE PROCEDURE pawl.outbox_claim_limited @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @suspects bit, @quiet bit, @got bigint OUTPUT, @text bit, @claimed nvarchar(max) OUTPUT, @wait bigint, @apart nvarchar(510) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @pass int = 1, @top int, @step int, @more bit, @room int = 0, @part int, @n int, @patience int = 100, @count bigint, @nr int, @base int, @lane bigint, @name nvarchar(510), @free int;
DECLARE @at datetime2(7), @urgency int, @ahead bit, @recent datetime2(7), @late datetime2(7), @of_queue bigint, @of_topic bigint, @some nvarchar(max), @away nvarchar(max);
DECLARE @until datetime2(7) = pawl.plus(@now, @lease);
DECLARE @topic TABLE (name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @pattern TABLE (name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL); -- of limits that hold for each of their topics
DECLARE @lanes TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, priority int NOT NULL, at datetime2(7) NOT NULL);
DECLARE @yielded TABLE (id bigint NOT NULL);
DECLARE @asks TABLE (id bigint NOT NULL PRIMARY KEY, waits bit NOT NULL);
DECLARE @met TABLE (nr int NOT NULL PRIMARY KEY, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL);
DECLARE @message TABLE (id bigint NOT NULL PRIMARY KEY, nr int NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, retry int NOT NULL, priority bigint NOT NULL, away bit NOT NULL);
DECLARE @runs TABLE (nr int NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL);
SELECT @got = 0, @claimed = NULL;
pawl.limits_turn(N'Shared', 100)
IF @apart IS NOT NULL INSERT INTO @topic (name) VALUES (@apart);
INSERT INTO @topic (name) SELECT l.name FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'topic' AND l.pattern = N'';
INSERT INTO @pattern (name) SELECT l.name FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'each';
IF @free >= 0 AND NOT pawl.paused(@queue)
  EXEC pawl.outbox_limit_room N'queue', @queue, @most, @patience OUTPUT, @of_queue OUTPUT, @room OUTPUT;
SELECT @top = MIN(l.priority) FROM pawl.outbox_lane l
 WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0
   AND (@suspects = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0)
     OR @suspects = 1 AND EXISTS (SELECT 1 FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect > 0));
SET @top = coalesce(@top, 32767);
WHILE @pass <= 3 AND @room > 0 AND (@suspects = 0 OR @got = 0)
BEGIN
  DELETE FROM @lanes;
  SET @now = SYSUTCDATETIME();
  SET @recent = DATEADD(second, -3, @now);
  SET @late = CASE WHEN @wait IS NULL THEN '0001-01-01' ELSE pawl.minus(@now, @wait) END;
  IF @pass <> 2
    INSERT INTO @lanes (nr, id, topic, priority, at)
    SELECT ROW_NUMBER() OVER (ORDER BY CASE WHEN x.at < @late THEN 0 ELSE 1 END, CASE WHEN x.at < @late THEN 0 ELSE x.priority END, x.at, x.id), x.id, x.topic, x.priority, x.at
      FROM (SELECT l.id, l.topic, l.priority, h.at FROM pawl.outbox_lane l
             CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect = 0 ORDER BY r.at) h
             WHERE @suspects = 0 AND pawl.exactly(l.queue, @queue) AND l.kind = 3
            UNION ALL
            SELECT l.id, l.topic, l.priority, h.at FROM pawl.outbox_lane l
             CROSS APPLY (SELECT TOP (1) r.at FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = l.id AND r.at <= @now AND r.suspect > 0 ORDER BY r.at) h
             WHERE @suspects = 1 AND pawl.exactly(l.queue, @queue) AND l.kind = 3) x
     WHERE @pass = 3 OR x.priority <= @top OR x.at < @late;
  SET @part = CASE WHEN @pass = 3 OR @suspects = 1 THEN @room WHEN RAND() < 0.5 THEN @room / 2 ELSE (@room + 1) / 2 END;
  SELECT @nr = MIN(x.nr) FROM @lanes x;
  WHILE @nr IS NOT NULL AND @part > 0 AND (@suspects = 0 OR @got = 0)
  BEGIN
    SELECT @lane = x.id, @name = x.topic, @at = x.at, @urgency = CASE WHEN x.at < @late THEN 0 ELSE x.priority END, @ahead = 0, @n = 0 FROM @lanes x WHERE x.nr = @nr;
    IF @suspects = 0 AND EXISTS (
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
      EXEC pawl.outbox_limit_room N'topic', @name, @part, @patience OUTPUT, @of_topic OUTPUT, @n OUTPUT;
    IF @n > 0
    BEGIN
      SET @some = NULL;
      IF @suspects = 1
        EXEC pawl.outbox_claim_suspect_runs @queue, @owner, @lease, @n, @versioned, 1, @count OUTPUT, NULL, @some OUTPUT, @lane;
      ELSE
        EXEC pawl.outbox_claim_runs @queue, @owner, @lease, @n, @versioned, NULL, @some OUTPUT, NULL, @lane;
      EXEC pawl.outbox_limit_use @of_topic, @some;
      EXEC pawl.outbox_limit_use @of_queue, @some;
      SELECT @base = coalesce(MAX(r.nr), 0) FROM @runs r;
      INSERT INTO @runs (nr, at, lo, n, retry, priority)
      SELECT @base + x.nr, @now, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@some) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
      SELECT @n = coalesce(SUM(r.n), 0) FROM @runs r WHERE r.nr > @base;
      SELECT @got = @got + @n, @room = @room - @n, @part = @part - @n;
    END;
    SELECT @nr = MIN(x.nr) FROM @lanes x WHERE x.nr > @nr;
  END;
  SELECT @step = 0, @more = CASE @pass WHEN 2 THEN 1 ELSE 0 END;
  WHILE @more = 1 AND @room > 0 AND @step < 20 -- bounds how long a claim may take
  BEGIN
    SELECT @step = @step + 1, @some = NULL, @away = NULL;
    DELETE FROM @met;
    DELETE FROM @message;
    IF @suspects = 1
      EXEC pawl.outbox_claim_suspect_runs @queue, @owner, @lease, @room, @versioned, 1, @count OUTPUT, NULL, @some OUTPUT, 0;
    ELSE
      EXEC pawl.outbox_claim_runs @queue, @owner, @lease, @room, @versioned, NULL, @some OUTPUT, @wait, 0;
    INSERT INTO @met (nr, lo, n, retry, priority)
    SELECT x.nr, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@some) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
    SELECT @count = coalesce(SUM(x.n), 0) FROM @met x;
    IF EXISTS (SELECT 1 FROM @topic) OR EXISTS (SELECT 1 FROM @pattern)
      INSERT INTO @message (id, nr, topic, retry, priority, away)
      SELECT m.id, x.nr, m.topic, x.retry, x.priority, CASE WHEN EXISTS (SELECT 1 FROM @topic t WHERE pawl.exactly(t.name, m.topic)) OR EXISTS (SELECT 1 FROM @pattern p WHERE pawl.falls_under(p.name, m.topic)) THEN 1 ELSE 0 END
        FROM @met x INNER LOOP JOIN pawl.outbox_message m ON m.id >= x.lo AND m.id < x.lo + x.n;
    SET @away = (
      SELECT @owner AS owner, MIN(s.id) AS lo, COUNT(*) AS n, s.topic
        FROM (SELECT m.id, m.topic, DATALENGTH(m.topic) AS size, m.id - ROW_NUMBER() OVER (PARTITION BY m.topic, DATALENGTH(m.topic) ORDER BY m.id) AS island FROM @message m WHERE m.away = 1) s
       GROUP BY s.topic, s.size, s.island FOR JSON PATH);
    IF @away IS NOT NULL
    BEGIN
      EXEC pawl.outbox_divert @queue, @away;
      DELETE FROM @met;
      INSERT INTO @met (nr, lo, n, retry, priority) SELECT ROW_NUMBER() OVER (ORDER BY m.nr, m.id), m.id, 1, m.retry, m.priority FROM @message m WHERE m.away = 0;
      SET @some = (SELECT x.lo, x.n FROM @met x FOR JSON PATH);
    END;
    EXEC pawl.outbox_limit_use @of_queue, @some;
    SELECT @base = coalesce(MAX(r.nr), 0) FROM @runs r;
    INSERT INTO @runs (nr, at, lo, n, retry, priority) SELECT @base + x.nr, @now, x.lo, x.n, x.retry, x.priority FROM @met x;
    SELECT @n = coalesce(SUM(x.n), 0) FROM @met x;
    SET @more = CASE WHEN @suspects = 1 AND @n = 0 AND @count > 0 OR @suspects = 0 AND @count = @room THEN 1 ELSE 0 END;
    SELECT @got = @got + @n, @room = @room - @n;
  END;
  SET @pass = @pass + 1;
END;
IF @suspects = 0
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
