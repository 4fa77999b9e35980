-- Forget messages done or discarded longer ago than $1, looking at the $2
-- lowest runs: looking only at the low end bounds the work without an index.
-- One process at a time: the others find the lock taken and nothing to do.
WITH mine AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(hashtextextended('pawl.outbox_purge', 0)) AS ok),
d AS (
  DELETE FROM pawl.outbox_done d WHERE d.lo = ANY (ARRAY(
    SELECT x.lo FROM (SELECT lo, processed_at FROM pawl.outbox_done WHERE (SELECT ok FROM mine) ORDER BY lo LIMIT $2) x
     WHERE x.processed_at < clock_timestamp() - $1::interval)) RETURNING d.lo, d.n),
g AS (
  SELECT d.lo, d.n FROM d UNION ALL
  SELECT x.id, 1 FROM (SELECT id, updated_at FROM pawl.outbox_exception WHERE status >= 3 AND status = 4 AND (SELECT ok FROM mine) ORDER BY id LIMIT $2) x
   WHERE x.updated_at < clock_timestamp() - $1::interval),
e AS (
  DELETE FROM pawl.outbox_exception e USING g WHERE e.id >= g.lo AND e.id < g.lo + g.n),
m AS (
  DELETE FROM pawl.outbox_message m USING g WHERE m.id >= g.lo AND m.id < g.lo + g.n RETURNING 1)
SELECT count(*) FROM m
