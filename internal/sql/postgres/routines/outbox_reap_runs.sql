-- Put up to p_runs runs whose lease has expired back into ready. One of their messages may
-- have ended the worker's process, so they are suspects: see outbox_claim_suspects. Only one
-- that was claimed alone as a suspect has failed an attempt (D-12).
CREATE OR REPLACE FUNCTION pawl.outbox_reap_runs(p_runs integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_got bigint;
BEGIN
  WITH t AS (
    DELETE FROM pawl.outbox_claim c WHERE c.ctid = ANY (ARRAY(
      SELECT x.ctid FROM pawl.outbox_claim x WHERE x.locked_until < v_now ORDER BY x.lo LIMIT p_runs FOR UPDATE SKIP LOCKED))
    RETURNING c.lo, c.n, c.lane, c.retry, c.suspect),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT i, 0, t.retry + 1, v_now, 'lease expired', v_now FROM t, generate_series(t.lo, t.lo + t.n - 1) i WHERE t.suspect = 1 ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = excluded.last_error, updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT t.lane, v_now, t.lo, t.n, t.retry + (t.suspect = 1)::integer, CASE t.suspect WHEN 0 THEN 1000 ELSE (t.suspect + 1) / 2 END FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;
