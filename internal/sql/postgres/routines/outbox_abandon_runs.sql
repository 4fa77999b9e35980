-- Abandon runs: back to ready with one more retry, after a delay (null: backoff).
CREATE OR REPLACE FUNCTION pawl.outbox_abandon_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[], p_error text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, x.retry, r.error, clock_timestamp() + coalesce(r.delay, pawl.outbox_backoff(x.retry)) AS at
      FROM unnest(p_owner, p_lo, p_n, p_delay, p_error) r(owner, lo, n, delay, error), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT i, 0, t.retry + 1, t.at, t.error, clock_timestamp() FROM t, generate_series(t.lo, t.lo + t.n - 1) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = coalesce(excluded.last_error, e.last_error), updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry + 1 FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;
