-- The lanes are those of outbox/orphans.
WITH RECURSIVE seen(lane) AS (
  SELECT min(lane) FROM pawl.outbox_ready
  UNION ALL
  SELECT (SELECT min(r.lane) FROM pawl.outbox_ready r WHERE r.lane > seen.lane) FROM seen WHERE seen.lane IS NOT NULL),
orphan(lane) AS (
  SELECT s.lane FROM (SELECT lane FROM seen UNION SELECT lane FROM pawl.job) s
   WHERE s.lane IS NOT NULL AND s.lane NOT IN (SELECT id FROM pawl.outbox_lane)
     AND s.lane NOT IN (SELECT lane FROM pawl.outbox_pause WHERE kind = 'topic'))
SELECT o.lane, coalesce((SELECT sum(x.n) FROM (SELECT r.n FROM pawl.outbox_ready r WHERE r.lane = o.lane ORDER BY r.at, r.lo LIMIT @look) x), 0) AS n,
       coalesce((SELECT m.topic FROM pawl.outbox_message m WHERE m.id = (SELECT r.lo FROM pawl.outbox_ready r WHERE r.lane = o.lane ORDER BY r.at, r.lo LIMIT 1)), '') AS topic
  FROM orphan o ORDER BY o.lane
