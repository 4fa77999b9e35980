-- Fail runs for good, and count in joins what was taken, unless an ack in the same
-- transaction is to do that (p_count false; see outbox_ack_runs).
CREATE OR REPLACE FUNCTION pawl.outbox_fail_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_error text[], p_count boolean DEFAULT true)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
  v_lo  bigint[];
  v_n   integer[];
BEGIN
  PERFORM pawl.check_isolation('fail');
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.retry, r.error
      FROM unnest(p_owner, p_lo, p_n, p_error) r(owner, lo, n, error), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, last_error, updated_at)
    SELECT i, 3, t.retry, t.error, clock_timestamp() FROM t, generate_series(t.lo, t.lo + t.n - 1) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 3, retry_count = excluded.retry_count, next_attempt_at = NULL,
      last_error = coalesce(excluded.last_error, e.last_error), updated_at = excluded.updated_at)
  SELECT coalesce(sum(t.n), 0), array_agg(t.lo), array_agg(t.n) INTO v_got, v_lo, v_n FROM t;
  IF p_count AND v_got > 0 THEN
    PERFORM pawl.outbox_join_settle(v_lo, v_n);
  END IF;
  RETURN v_got;
END $f$;
