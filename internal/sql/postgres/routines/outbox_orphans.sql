-- Lanes that have runs or jobs and are not registered: no claim reads them. They come from
-- programs that knew a lane from a history which the database lost. Lanes where paused topics
-- are parked belong to no queue and are left out. One probe per lane.
CREATE OR REPLACE FUNCTION pawl.outbox_orphans() RETURNS SETOF bigint LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
BEGIN
  RETURN QUERY
  WITH RECURSIVE seen(lane) AS (
    (SELECT r.lane FROM pawl.outbox_ready r ORDER BY r.lane LIMIT 1)
    UNION ALL
    SELECT (SELECT r.lane FROM pawl.outbox_ready r WHERE r.lane > s.lane ORDER BY r.lane LIMIT 1) FROM seen s WHERE s.lane IS NOT NULL)
  SELECT s.lane FROM (SELECT seen.lane FROM seen UNION SELECT j.lane FROM pawl.job j) s
   WHERE s.lane IS NOT NULL
     AND NOT EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.id = s.lane)
     AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.lane = s.lane AND p.kind = 'topic');
END $f$;
