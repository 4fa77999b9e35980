-- Are suspects of a queue due?
CREATE OR REPLACE FUNCTION pawl.outbox_suspects(p_queue text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  RETURN EXISTS (SELECT FROM pawl.outbox_lane l, LATERAL (
      SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.suspect > 0 AND r.at <= v_now LIMIT 1) s WHERE l.queue = p_queue AND l.kind IN (0, 3))
    AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = p_queue);
END $f$;
