-- Delete messages done, discarded or expired longer ago than p_age, among the p_look lowest runs:
-- reading only the low end bounds the work without an index. They are 10 000 messages and the rest of a run
-- at most, and should be as many: each call reads the entries of all that was deleted since the oldest open snapshot. What a pending join needs stays
-- (D-25); that is tested again after the runs are locked, for a message may have been attached
-- meanwhile. One process at a time: the others do not get the lock and have nothing to do.
CREATE OR REPLACE FUNCTION pawl.outbox_purge(p_age interval, p_look bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_before timestamptz := clock_timestamp() - p_age;
  v_done   bigint[];
  v_dead   bigint[];
  v_got    bigint;
  v_lo     bigint[];
  v_n      integer[];
BEGIN
  PERFORM pawl.check_isolation('clean up');
  IF NOT pg_try_advisory_xact_lock(pawl.lock_key('pawl.outbox_purge')) THEN
    RETURN 0;
  END IF;
  v_done := ARRAY(
    SELECT d.lo FROM pawl.outbox_done d WHERE d.lo = ANY (ARRAY(
      SELECT z.lo FROM (
        SELECT x.lo, sum(x.n) OVER (ORDER BY x.lo) - x.n AS before
          FROM (SELECT y.lo, y.n, y.processed_at FROM pawl.outbox_done y WHERE NOT pawl.outbox_join_needs(y.lo, y.n) ORDER BY y.lo LIMIT p_look) x
         WHERE x.processed_at < v_before) z
       WHERE z.before < 10000)) FOR UPDATE SKIP LOCKED);
  v_dead := ARRAY(
    SELECT e.id FROM (SELECT x.id FROM unnest('{4,5}'::int[]) s(status),
        LATERAL (SELECT y.id, y.updated_at FROM pawl.outbox_exception y
                  WHERE y.status >= 3 AND y.status = s.status AND NOT pawl.outbox_join_needs(y.id, 1) ORDER BY y.id LIMIT p_look) x
       WHERE x.updated_at < v_before OFFSET 0) x,
      LATERAL (SELECT y.id FROM pawl.outbox_exception y WHERE y.id = x.id AND y.status IN (4, 5) FOR UPDATE SKIP LOCKED) e);
  WITH d AS (
    DELETE FROM pawl.outbox_done d WHERE d.lo = ANY (v_done) AND NOT pawl.outbox_join_needs(d.lo, d.n) RETURNING d.lo, d.n),
  g AS MATERIALIZED (
    SELECT d.lo, d.n FROM d UNION ALL SELECT i, 1 FROM unnest(v_dead) i WHERE NOT pawl.outbox_join_needs(i, 1)),
  e AS (
    DELETE FROM pawl.outbox_exception e USING g WHERE e.id >= g.lo AND e.id < g.lo + g.n),
  a AS (
    DELETE FROM pawl.outbox_attempt a USING g WHERE a.id >= g.lo AND a.id < g.lo + g.n),
  r AS (
    DELETE FROM pawl.outbox_result r USING g WHERE r.id >= g.lo AND r.id < g.lo + g.n),
  fs AS (
    DELETE FROM pawl.flow_step s USING g WHERE s.id >= g.lo AND s.id < g.lo + g.n),
  fg AS (
    DELETE FROM pawl.flow_signal s USING g WHERE s.id >= g.lo AND s.id < g.lo + g.n),
  fw AS (
    DELETE FROM pawl.flow_wait w USING g WHERE w.id >= g.lo AND w.id < g.lo + g.n),
  m AS (
    DELETE FROM pawl.outbox_message m USING g WHERE m.id >= g.lo AND m.id < g.lo + g.n RETURNING 1)
  SELECT count(*), (SELECT array_agg(g.lo) FROM g), (SELECT array_agg(g.n) FROM g) INTO v_got, v_lo, v_n FROM m;
  PERFORM pawl.outbox_unique_purge(v_lo, v_n, p_look);
  PERFORM pawl.outbox_limit_purge();
  RETURN v_got;
END $f$;
