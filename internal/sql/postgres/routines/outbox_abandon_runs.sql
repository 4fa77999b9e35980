-- Abandon runs: back to ready with one more retry, after a delay (null: backoff).
CREATE OR REPLACE FUNCTION pawl.outbox_abandon_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[], p_error text[],
                                                    p_worker text DEFAULT NULL, p_keep integer DEFAULT 5) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got      bigint;
  v_ids      bigint[];
  v_attempts integer[];
  v_errors   text[];
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, x.retry + 1 AS retry, r.error, clock_timestamp() + coalesce(r.delay, pawl.outbox_backoff(x.retry)) AS at
      FROM unnest(p_owner, p_lo, p_n, p_delay, p_error) r(owner, lo, n, delay, error), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  b AS MATERIALIZED (
    SELECT i AS id, t.retry, t.at, t.error FROM t, generate_series(t.lo, t.lo + t.n - 1) i),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT b.id, 0, b.retry, b.at, b.error, clock_timestamp() FROM b ORDER BY b.id
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = coalesce(excluded.last_error, e.last_error), updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry FROM t)
  SELECT count(*), array_agg(b.id), array_agg(b.retry), array_agg(b.error) INTO v_got, v_ids, v_attempts, v_errors FROM b;
  IF v_got > 0 THEN
    PERFORM pawl.outbox_attempted(v_ids, v_attempts, v_errors, p_worker, p_keep);
  END IF;
  RETURN v_got;
END $f$;
