-- Make the waits of joins that have ended due at once, whatever their due time is (D-33).
CREATE OR REPLACE FUNCTION pawl.outbox_join_wake(p_joins uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_queues text[];
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_ready r
     WHERE r.lo = ANY (ARRAY(SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = ANY (p_joins))) AND r.n = 1 AND r.at > clock_timestamp()
    RETURNING r.lane, r.lo, r.retry, r.suspect),
  back AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) SELECT gone.lane, clock_timestamp(), gone.lo, 1, gone.retry, gone.suspect FROM gone)
  SELECT array_agg(DISTINCT l.queue) INTO v_queues FROM gone JOIN pawl.outbox_lane l ON l.id = gone.lane;
  IF v_queues IS NOT NULL THEN
    PERFORM pawl.outbox_wake(v_queues);
  END IF;
END $f$;
