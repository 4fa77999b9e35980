-- Count what becomes of messages that a program claimed itself, of runs, a JSON array with owner, lo and n,
-- as far as it holds them: before they are settled, in the same transaction. Extending their leases locks
-- them as that does, and makes them runs of their own. @outcome: the column, @fingerprint: what the error
-- has in common with others. Nobody waits: each session has rows of its own. Topics beyond the first 200
-- of a minute have none: the row without a topic says that these are reached. Returns how many messages.
CREATE PROCEDURE pawl.activity_count @runs nvarchar(max), @outcome nvarchar(10), @fingerprint nvarchar(400) = NULL AS
BEGIN
DECLARE @got int, @minute bigint, @room int, @nr int, @last int, @queue nvarchar(510), @topic nvarchar(510), @n bigint, @created nvarchar(max), @errors nvarchar(max), @text nvarchar(max);
DECLARE @worker uniqueidentifier = CAST(CONCAT(N'00000000-0000-0000-0000-', RIGHT(CONCAT(N'000000000000', @@SPID), 12)) AS uniqueidentifier);
DECLARE @found TABLE (queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, created bigint NOT NULL, n bigint NOT NULL, own bit NOT NULL);
DECLARE @cell TABLE (nr int NOT NULL PRIMARY KEY, queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, n bigint NOT NULL);
pawl.begin_own()
SET @minute = pawl.minute(SYSUTCDATETIME());
EXEC @got = pawl.outbox_extend_runs @runs, 60000000;
INSERT INTO @found (queue, topic, created, n, own)
SELECT s.queue, s.topic, s.created, s.n,
       CASE WHEN EXISTS (SELECT 1 FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = s.queue AND a.topic = s.topic AND a.worker = @worker) THEN 1 ELSE 0 END
  FROM (SELECT coalesce(l.queue, N'') AS queue, m.topic, pawl.minute(m.created_at) AS created, COUNT_BIG(*) AS n
          FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint) r
         INNER LOOP JOIN pawl.outbox_claimed c ON c.lo >= r.lo AND c.lo < r.lo + r.n AND c.owner = r.owner
         INNER LOOP JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
          LEFT LOOP JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, m.topic, pawl.minute(m.created_at)) s;
IF EXISTS (SELECT 1 FROM @found f WHERE f.own = 0) AND NOT EXISTS (SELECT 1 FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = N'' AND a.topic = N'' AND a.worker = @worker)
BEGIN
  SELECT @room = 200 - COUNT(*) FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.worker = @worker;
  UPDATE f SET own = 1 FROM @found f INNER JOIN (SELECT x.queue, x.topic, ROW_NUMBER() OVER (ORDER BY x.queue, x.topic) AS nr FROM @found x WHERE x.own = 0 GROUP BY x.queue, x.topic) k
    ON k.queue = f.queue AND k.topic = f.topic WHERE k.nr <= @room;
END;
UPDATE @found SET queue = N'', topic = N'' WHERE own = 0;
INSERT INTO @cell (nr, queue, topic, n) SELECT ROW_NUMBER() OVER (ORDER BY f.queue, f.topic), f.queue, f.topic, SUM(f.n) FROM @found f GROUP BY f.queue, f.topic;
SELECT @nr = 1, @last = MAX(nr) FROM @cell;
WHILE @nr <= @last
BEGIN
  SELECT @queue = c.queue, @topic = c.topic, @n = c.n FROM @cell c WHERE c.nr = @nr;
  IF NOT EXISTS (SELECT 1 FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = @queue AND a.topic = @topic AND a.worker = @worker)
    INSERT INTO pawl.activity (grain, minute, queue, topic, worker, done, retried, failed, expired, unhandled, waits, takes, created, errors)
    VALUES (1, @minute, @queue, @topic, @worker, 0, 0, 0, 0, 0, N'[]', N'[]', N'[]', N'[]');
  SELECT @created = a.created, @errors = a.errors FROM pawl.activity a WHERE a.grain = 1 AND a.minute = @minute AND a.queue = @queue AND a.topic = @topic AND a.worker = @worker;
  IF @outcome <> N'retried'
  BEGIN
    SET @text = (SELECT p.k, SUM(p.n) AS n FROM (
      SELECT CAST(JSON_VALUE(x.value, '$[0]') AS bigint) AS k, CAST(JSON_VALUE(x.value, '$[1]') AS bigint) AS n FROM OPENJSON(@created) x
      UNION ALL SELECT f.created, f.n FROM @found f WHERE f.queue = @queue AND f.topic = @topic) p GROUP BY p.k FOR JSON PATH);
    SET @created = pawl.pairs(@text);
  END;
  IF @fingerprint IS NOT NULL
  BEGIN
    SET @text = (SELECT TOP (5) p.k, SUM(p.n) AS n FROM (
      SELECT JSON_VALUE(x.value, '$[0]') COLLATE Latin1_General_100_BIN2 AS k, CAST(JSON_VALUE(x.value, '$[1]') AS bigint) AS n FROM OPENJSON(@errors) x
      UNION ALL SELECT @fingerprint, @n) p GROUP BY p.k ORDER BY SUM(p.n) DESC, p.k FOR JSON PATH);
    SET @errors = pawl.pairs(@text);
  END;
  UPDATE pawl.activity SET done = done + CASE @outcome WHEN N'done' THEN @n ELSE 0 END, retried = retried + CASE @outcome WHEN N'retried' THEN @n ELSE 0 END,
    failed = failed + CASE @outcome WHEN N'failed' THEN @n ELSE 0 END, expired = expired + CASE @outcome WHEN N'expired' THEN @n ELSE 0 END, created = @created, errors = @errors
   WHERE grain = 1 AND minute = @minute AND queue = @queue AND topic = @topic AND worker = @worker;
  SET @nr = @nr + 1;
END;
pawl.end_own()
RETURN @got;
END
