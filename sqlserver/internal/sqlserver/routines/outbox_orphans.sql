-- Lanes of runs and jobs that are not known: then no claim visits them. They come
-- from programs that were told of a lane by a history that the database lost. Where
-- paused topics are laid aside is no lane of a queue and not meant. One probe a lane.
CREATE FUNCTION pawl.outbox_orphans() RETURNS @orphan TABLE (lane bigint NOT NULL PRIMARY KEY) AS
BEGIN
DECLARE @lane bigint;
DECLARE @seen TABLE (lane bigint NOT NULL PRIMARY KEY);
SELECT @lane = MIN(r.lane) FROM pawl.outbox_ready r;
WHILE @lane IS NOT NULL
BEGIN
  INSERT INTO @seen (lane) SELECT @lane;
  SELECT @lane = MIN(r.lane) FROM pawl.outbox_ready r WHERE r.lane > @lane;
END;
INSERT INTO @seen (lane) SELECT DISTINCT j.lane FROM pawl.job j WHERE NOT EXISTS (SELECT 1 FROM @seen s WHERE s.lane = j.lane);
INSERT INTO @orphan (lane)
SELECT s.lane FROM @seen s
 WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = s.lane)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.lane = s.lane AND p.kind = N'topic');
RETURN;
END
