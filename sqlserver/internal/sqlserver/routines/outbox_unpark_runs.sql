-- Bring up to @most runs of an ended pause back, and forget the pause when there are none
-- left. Whoever lays something aside meanwhile holds the pause's row, see outbox_park_runs,
-- and this waits for them. What has lost all its messages is removed. Returns how many messages came
-- back.
CREATE PROCEDURE pawl.outbox_unpark_runs @topic nvarchar(510), @most int AS
BEGIN
DECLARE @lane bigint, @got bigint = 0;
DECLARE @pick TABLE (at datetime2(7) NOT NULL, lo bigint NOT NULL, PRIMARY KEY (at, lo));
DECLARE @back TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
pawl.at_most(@most)
pawl.begin_own()
SELECT @lane = p.lane FROM pawl.outbox_pause p WITH (UPDLOCK, REPEATABLEREAD) WHERE p.kind = N'topic' AND pawl.exactly(p.name, @topic) AND p.ending = 1;
WHILE @lane IS NOT NULL
BEGIN
  DELETE FROM @pick;
  DELETE FROM @back;
  INSERT INTO @pick (at, lo)
  SELECT TOP (@most) r.at, r.lo FROM pawl.outbox_ready r WITH (UPDLOCK, ROWLOCK) WHERE r.lane = @lane ORDER BY r.at, r.lo;
  DELETE r
  OUTPUT deleted.lo, deleted.at, deleted.n, deleted.retry, deleted.suspect INTO @back (lo, at, n, retry, suspect)
    FROM @pick p INNER LOOP JOIN pawl.outbox_ready r WITH (ROWLOCK, FORCESEEK) ON r.lane = @lane AND r.at = p.at AND r.lo = p.lo;
  DELETE FROM @back WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id >= lo AND m.id < lo + n);
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
  SELECT m.lane, b.at, b.lo, b.n, b.retry, b.suspect FROM @back b INNER JOIN pawl.outbox_message m ON m.id = (SELECT MIN(x.id) FROM pawl.outbox_message x WHERE x.id >= b.lo AND x.id < b.lo + b.n) ORDER BY m.lane, b.at, b.lo;
  SELECT @got = coalesce(SUM(b.n), 0) FROM @back b;
  IF @got > 0 BREAK;
  -- All that was read has lost its messages; or somebody who withdrew a message left the rest of its run
  -- behind: the next look sees it.
  IF NOT EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = @lane)
  BEGIN
    DELETE FROM pawl.outbox_pause WHERE kind = N'topic' AND pawl.exactly(name, @topic);
    BREAK;
  END;
END;
pawl.end_own()
RETURN @got;
END
