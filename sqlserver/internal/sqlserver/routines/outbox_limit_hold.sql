-- Count what is claimed already against a limit. For a transaction that has the limits' turn alone.
CREATE PROCEDURE pawl.outbox_limit_hold @kind nvarchar(20), @name nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
DECLARE @limit bigint, @topic nvarchar(510), @row int, @patience int = -1, @free int;
DECLARE @held TABLE (id bigint NOT NULL PRIMARY KEY, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
DECLARE @topics TABLE (nr int NOT NULL PRIMARY KEY, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
INSERT INTO @held (id, topic)
SELECT m.id, m.topic FROM pawl.outbox_claimed c INNER JOIN pawl.outbox_lane q ON q.id = c.lane INNER LOOP JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
 WHERE @kind = N'topic' AND pawl.exactly(m.topic, @name) OR @kind = N'queue' AND pawl.exactly(q.queue, @name) OR @kind = N'each' AND pawl.falls_under(@name, m.topic);
IF @kind <> N'each'
BEGIN
  SELECT @limit = l.seq FROM pawl.outbox_limit l WHERE l.kind = @kind AND pawl.exactly(l.name, @name);
  INSERT INTO pawl.outbox_limit_claim (of_limit, id) SELECT @limit, h.id FROM @held h WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit AND u.id = h.id);
  RETURN;
END;
INSERT INTO @topics (nr, topic) SELECT ROW_NUMBER() OVER (ORDER BY s.topic, s.size), s.topic FROM (SELECT DISTINCT h.topic, DATALENGTH(h.topic) AS size FROM @held h) s;
SELECT @row = MIN(x.nr) FROM @topics x;
WHILE @row IS NOT NULL
BEGIN
  SELECT @topic = x.topic FROM @topics x WHERE x.nr = @row;
  EXEC pawl.outbox_limit_of @topic, @patience, @limit OUTPUT, @free OUTPUT;
  INSERT INTO pawl.outbox_limit_claim (of_limit, id)
  SELECT l.seq, h.id FROM pawl.outbox_limit l CROSS JOIN @held h
   WHERE l.seq = @limit AND l.concurrency IS NOT NULL AND pawl.exactly(h.topic, @topic) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit_claim u WHERE u.of_limit = @limit AND u.id = h.id);
  SELECT @row = MIN(x.nr) FROM @topics x WHERE x.nr > @row;
END;
END
