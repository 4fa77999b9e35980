-- Lanes of runs and jobs that are not known: then no claim visits them. They come
-- from programs that were told of a lane by a history that the database lost. Where
-- paused topics are laid aside is no lane of a queue and not meant. One probe a lane.
-- Asked without the write lock. ?1 now.
WITH RECURSIVE seen(lane) AS (
  SELECT min(lane) FROM pawl.outbox_ready
  UNION ALL
  SELECT (SELECT min(r.lane) FROM pawl.outbox_ready r WHERE r.lane > seen.lane) FROM seen WHERE seen.lane IS NOT NULL)
SELECT s.lane FROM (SELECT lane FROM seen UNION SELECT lane FROM pawl.job) s
 WHERE s.lane IS NOT NULL AND s.lane NOT IN (SELECT id FROM pawl.outbox_lane)
   AND s.lane NOT IN (SELECT lane FROM pawl.outbox_pause WHERE kind = 'topic')
