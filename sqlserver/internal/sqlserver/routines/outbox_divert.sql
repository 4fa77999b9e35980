-- Move claimed runs, a JSON array with owner, lo, n and topic, to the lanes of their topics' limits.
-- For a transaction that is open.
CREATE PROCEDURE pawl.outbox_divert @queue nvarchar(510), @runs nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @priority int, @topic nvarchar(510), @to bigint, @row int;
DECLARE @lane TABLE (nr int NOT NULL PRIMARY KEY, priority int NOT NULL, topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, id bigint);
pawl.run_tables()
INSERT INTO @run (nr, owner, lo, n, topic)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.topic FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, topic nvarchar(510)) x;
pawl.take()
INSERT INTO @lane (nr, priority, topic)
SELECT ROW_NUMBER() OVER (ORDER BY s.priority, s.topic, s.size), s.priority, s.topic
  FROM (SELECT DISTINCT l.priority, r.topic, DATALENGTH(r.topic) AS size FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.outbox_lane l ON l.id = t.lane) s;
SELECT @row = MIN(x.nr) FROM @lane x;
WHILE @row IS NOT NULL
BEGIN
  SELECT @priority = x.priority, @topic = x.topic FROM @lane x WHERE x.nr = @row;
  EXEC pawl.outbox_limit_lane @queue, @priority, @topic, @to OUTPUT;
  UPDATE @lane SET id = @to WHERE nr = @row;
  SELECT @row = MIN(x.nr) FROM @lane x WHERE x.nr > @row;
END;
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT x.id, t.at, t.lo, t.n, t.retry, t.suspect
  FROM @taken t INNER JOIN @run r ON r.nr = t.nr INNER JOIN pawl.outbox_lane l ON l.id = t.lane INNER JOIN @lane x ON x.priority = l.priority AND pawl.exactly(x.topic, r.topic);
END
