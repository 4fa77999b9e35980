-- Claim from a queue's open lanes while there are limits: messages that no topic's limit holds for. The
-- others are met once: they are moved to the lanes of their limits, so that those behind them come
-- through. @most is within the queue's limit, @of_queue; the other parameters are those of
-- outbox_claim_within_limits. @claimed: the runs. For a transaction that is open.
CREATE PROCEDURE pawl.outbox_claim_open @what nvarchar(10), @queue nvarchar(510), @owner uniqueidentifier, @lease bigint, @most int, @versioned bit, @of_queue bigint, @wait bigint, @apart nvarchar(510), @claimed nvarchar(max) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @step int = 0, @more bit = 1, @n int, @count bigint, @base int, @lanes nvarchar(max), @some nvarchar(max), @away nvarchar(max), @turns nvarchar(max), @left int;
DECLARE @topic TABLE (name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @pattern TABLE (name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL); -- of limits that hold for each of their topics
DECLARE @met TABLE (nr int NOT NULL PRIMARY KEY, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL);
DECLARE @message TABLE (id bigint NOT NULL PRIMARY KEY, nr int NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, retry int NOT NULL, priority bigint NOT NULL, away bit NOT NULL);
DECLARE @runs TABLE (nr int NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL, PRIMARY KEY (nr, at, lo));
IF @apart IS NOT NULL INSERT INTO @topic (name) VALUES (@apart);
INSERT INTO @topic (name) SELECT l.name FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'topic' AND l.pattern = N'';
INSERT INTO @pattern (name) SELECT l.name FROM pawl.outbox_limit l WITH (READPAST, READCOMMITTEDLOCK, INDEX (name)) WHERE l.kind = N'each';
WHILE @more = 1 AND @most > 0 AND @step < 20 -- bounds how long a claim may take
BEGIN
  SELECT @step = @step + 1, @some = NULL, @away = NULL, @turns = NULL;
  DELETE FROM @met;
  DELETE FROM @message;
  IF @what = N'regular' AND EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 1) AND NOT pawl.paused(@queue)
  BEGIN
    EXEC pawl.outbox_sequence @queue, @most, @versioned;
    EXEC pawl.outbox_claim_turns @queue, @owner, @lease, @most, @versioned, 1, @turns OUTPUT;
  END;
  INSERT INTO @met (nr, lo, n, retry, priority)
  SELECT x.nr, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@turns) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
  SELECT @base = coalesce(MAX(x.nr), 0), @left = @most - coalesce(SUM(x.n), 0) FROM @met x;
  SET @lanes = (SELECT l.id FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = 0 FOR JSON PATH);
  IF @left > 0 EXEC pawl.outbox_claim_lanes @what, @lanes, @queue, @owner, @lease, @left, @versioned, @wait, @some OUTPUT;
  INSERT INTO @met (nr, lo, n, retry, priority)
  SELECT @base + x.nr, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@some) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
  SELECT @count = coalesce(SUM(x.n), 0) FROM @met x;
  SET @some = (SELECT x.lo, x.n FROM @met x FOR JSON PATH);
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
  SET @more = CASE WHEN @what = N'suspects' AND @n = 0 AND @count > 0 OR @what = N'regular' AND (@count = @most OR @turns IS NOT NULL) THEN 1 ELSE 0 END;
  SET @most = @most - @n;
END;
pawl.claimed_runs()
END
