-- Release runs: back to ready without counting an attempt, at once or after a delay.
-- p_unbegun: their handlers did not start, so suspects stay suspects.
CREATE OR REPLACE FUNCTION pawl.outbox_release_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[], p_unbegun boolean[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, x.retry, CASE WHEN r.delay > interval '0' THEN clock_timestamp() + r.delay ELSE x.at END AS at,
           CASE WHEN r.unbegun THEN x.suspect ELSE 0 END AS suspect
      FROM unnest(p_owner, p_lo, p_n, p_delay, p_unbegun) r(owner, lo, n, delay, unbegun), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) SELECT t.lane, t.at, t.lo, t.n, t.retry, t.suspect FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;
