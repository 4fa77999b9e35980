SET NOCOUNT ON;
DECLARE @EACH bigint, @SHARE bigint, @HELD bigint, @LOST bigint, @FIRST datetime2(7) = '0001-01-01', @FAR datetime2(7) = pawl.forever();
DECLARE @OF TABLE (queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @PART TABLE (lane bigint NOT NULL, queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, state nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL, after datetime2(7) NOT NULL, upto datetime2(7) NOT NULL);
DECLARE @CLAIMED TABLE (lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, queue nvarchar(510) COLLATE Latin1_General_100_BIN2);
DECLARE @TOTAL TABLE (state nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL, queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, n bigint NOT NULL, more bit NOT NULL);
DECLARE @TOPIC TABLE (state nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL, queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  n bigint NOT NULL, at datetime2(7));
DECLARE @ASIDE TABLE (lo bigint NOT NULL PRIMARY KEY, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, n bigint NOT NULL, at datetime2(7) NOT NULL, more bit NOT NULL);
DECLARE @GIVEN_UP TABLE (id bigint NOT NULL PRIMARY KEY);
INSERT INTO @OF (queue) SELECT x.value FROM OPENJSON(@queues) x;
INSERT INTO @PART (lane, queue, state, after, upto)
SELECT l.id, l.queue, p.state, p.after, p.upto
  FROM (SELECT TOP (@lanes) x.id, x.queue, CASE WHEN pawl.paused(x.queue) THEN N'paused' ELSE N'ready' END AS due
          FROM pawl.outbox_lane x WHERE @queues IS NULL OR x.queue IN (SELECT o.queue FROM @OF o) ORDER BY x.queue, x.priority) l
 CROSS APPLY (VALUES (l.due, @FIRST, @began), (N'scheduled', @began, @FAR)) p(state, after, upto);
SELECT @EACH = @runs / CASE WHEN COUNT(*) < 2 THEN 1 ELSE COUNT(*) / 2 END, @SHARE = @messages / CASE WHEN COUNT(*) < 2 THEN 1 ELSE COUNT(*) / 2 END FROM @PART;
IF @EACH < 100 SET @EACH = 100;
IF @SHARE < 100 SET @SHARE = 100;
INSERT INTO @CLAIMED (lo, n, queue)
SELECT c.lo, c.n, (SELECT TOP (1) p.queue FROM @PART p WHERE p.lane = c.lane)
  FROM (SELECT TOP (@runs) x.lo, x.n, x.lane FROM pawl.outbox_claimed x pawl.unlocked() ORDER BY x.lo) c;
SELECT @HELD = COUNT(*) FROM @CLAIMED;
INSERT INTO @TOTAL (state, queue, n, more)
SELECT v.state, p.queue, SUM(v.n), MAX(CASE WHEN t.runs >= @EACH THEN 1 ELSE 0 END)
  FROM @PART p CROSS APPLY (
    SELECT COUNT(*) AS runs, coalesce(SUM(x.n), 0) AS n, coalesce(SUM(CASE WHEN x.retry > 0 THEN x.n ELSE 0 END), 0) AS again
      FROM (SELECT TOP (@EACH) r.n, r.retry FROM pawl.outbox_ready r pawl.unlocked() WHERE r.lane = p.lane AND r.at > p.after AND r.at <= p.upto ORDER BY r.at, r.lo) x) t
 CROSS APPLY (SELECT p.state, CASE WHEN p.state = N'scheduled' THEN t.n - t.again ELSE t.n END AS n UNION ALL SELECT N'retrying', t.again WHERE p.state = N'scheduled') v
 GROUP BY v.state, p.queue
UNION ALL
SELECT N'in_flight', c.queue, SUM(c.n), CASE WHEN @HELD >= @runs THEN 1 ELSE 0 END FROM @CLAIMED c WHERE c.queue IS NOT NULL GROUP BY c.queue;
INSERT INTO @TOPIC (state, queue, topic, n, at)
SELECT v.state, p.queue, t.topic, COUNT(*), MIN(CASE v.state WHEN N'put_back' THEN t.due ELSE t.at END)
  FROM @PART p CROSS APPLY (
    SELECT TOP (@SHARE) m.topic, r.retry, coalesce(pawl.planned(r.at), m.created_at) AS at, CASE WHEN m.due_at > m.created_at THEN m.due_at ELSE m.created_at END AS due
      FROM (SELECT TOP (@EACH) x.at, x.lo, x.n, x.retry FROM pawl.outbox_ready x pawl.unlocked() WHERE x.lane = p.lane AND x.at > p.after AND x.at <= p.upto ORDER BY x.at, x.lo) r
     CROSS APPLY (SELECT TOP (@SHARE) y.topic, y.created_at, y.due_at, y.id FROM pawl.outbox_message y pawl.unlocked() WHERE y.id >= r.lo AND y.id < r.lo + r.n ORDER BY y.id) m
     ORDER BY r.at, m.id) t
 CROSS APPLY (SELECT CASE WHEN p.state <> N'scheduled' THEN p.state WHEN t.retry > 0 THEN N'retrying' WHEN t.due <= @began THEN N'put_back' ELSE p.state END AS state) v
 GROUP BY v.state, p.queue, t.topic
UNION ALL
SELECT N'in_flight', t.queue, t.topic, COUNT(*), NULL
  FROM (SELECT TOP (@messages) c.queue, m.topic FROM @CLAIMED c
         CROSS APPLY (SELECT TOP (@messages) y.topic, y.id FROM pawl.outbox_message y pawl.unlocked() WHERE y.id >= c.lo AND y.id < c.lo + c.n ORDER BY y.id) m ORDER BY m.id) t
 WHERE t.queue IS NOT NULL GROUP BY t.queue, t.topic;
INSERT INTO @ASIDE (lo, topic, n, at, more)
SELECT r.lo, p.name, r.n, r.at, CASE WHEN COUNT(*) OVER (PARTITION BY p.name) >= @EACH THEN 1 ELSE 0 END
  FROM (SELECT TOP (@lanes) x.name, x.lane FROM pawl.outbox_pause x WHERE x.kind = N'topic' ORDER BY x.name) p
 CROSS APPLY (SELECT TOP (@EACH) x.at, x.lo, x.n FROM pawl.outbox_ready x pawl.unlocked() WHERE x.lane = p.lane ORDER BY x.at, x.lo) r;
INSERT INTO @GIVEN_UP (id) SELECT TOP (@failed) x.id FROM pawl.outbox_exception x pawl.unlocked() WHERE x.status >= 3 AND x.status = 3 ORDER BY x.id;
SELECT @LOST = COUNT(*) FROM @GIVEN_UP;
SELECT t.state, t.queue, t.topic, t.n, CASE WHEN t.state IN (N'ready', N'paused', N'put_back') THEN pawl.elapsed(t.at, @began) ELSE 0 END AS micros, CAST(0 AS bit) AS more FROM @TOPIC t
UNION ALL
SELECT t.state, t.queue, N'', t.n - coalesce((SELECT SUM(x.n) FROM @TOPIC x WHERE CASE x.state WHEN N'put_back' THEN N'scheduled' ELSE x.state END = t.state AND x.queue = t.queue), 0), 0, t.more FROM @TOTAL t
UNION ALL
SELECT N'paused', l.queue, a.topic, SUM(a.n), pawl.elapsed(MIN(a.at), @began), CAST(MAX(CAST(a.more AS int)) AS bit)
  FROM @ASIDE a INNER JOIN pawl.outbox_message m pawl.unlocked() ON m.id = a.lo INNER JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, a.topic
UNION ALL
SELECT N'failed', l.queue, m.topic, COUNT_BIG(*), 0, CAST(CASE WHEN @LOST >= @failed THEN 1 ELSE 0 END AS bit)
  FROM @GIVEN_UP f INNER JOIN pawl.outbox_message m pawl.unlocked() ON m.id = f.id INNER JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, m.topic
