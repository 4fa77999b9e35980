-- Lay claimed runs, a JSON array with owner, lo, n and topic, aside whose topic is paused;
-- others go back to ready, as if released. A pause that ends meanwhile waits for us (its row
-- stays locked): nothing is laid aside for ever. Returns how many messages.
CREATE PROCEDURE pawl.outbox_park_runs @runs nvarchar(max) AS
BEGIN
DECLARE @got bigint;
DECLARE @pause TABLE (name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, lane bigint NOT NULL);
pawl.run_tables()
pawl.begin_own()
INSERT INTO @run (nr, owner, lo, n, topic)
SELECT ROW_NUMBER() OVER (ORDER BY x.lo), x.owner, x.lo, x.n, x.topic FROM OPENJSON(@runs) WITH (owner uniqueidentifier, lo bigint, n bigint, topic nvarchar(510)) x;
INSERT INTO @pause (name, lane)
SELECT p.name, p.lane FROM pawl.outbox_pause p WITH (REPEATABLEREAD) WHERE p.kind = N'topic' AND p.ending = 0 AND p.name IN (SELECT r.topic FROM @run r);
pawl.take()
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
SELECT coalesce(p.lane, t.lane), t.at, t.lo, t.n, t.retry, t.suspect
  FROM @taken t INNER JOIN @run r ON r.nr = t.nr LEFT JOIN @pause p ON pawl.exactly(p.name, r.topic);
SELECT @got = coalesce(SUM(t.n), 0) FROM @taken t;
pawl.end_own()
RETURN @got;
END
