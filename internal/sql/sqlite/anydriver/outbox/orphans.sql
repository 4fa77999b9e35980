-- A lane that is not registered comes from a program that knew it from a history which the
-- database lost; no claim reads it. Lanes where paused topics are parked belong to no queue
-- and are left out. One probe per lane, without the write lock.
WITH RECURSIVE seen(lane) AS (
  SELECT min(lane) FROM pawl.outbox_ready
  UNION ALL
  SELECT (SELECT min(r.lane) FROM pawl.outbox_ready r WHERE r.lane > seen.lane) FROM seen WHERE seen.lane IS NOT NULL)
SELECT s.lane AS lane FROM (SELECT lane FROM seen UNION SELECT lane FROM pawl.job) s
 WHERE s.lane IS NOT NULL AND s.lane NOT IN (SELECT id FROM pawl.outbox_lane)
   AND s.lane NOT IN (SELECT lane FROM pawl.outbox_pause WHERE kind = 'topic')
