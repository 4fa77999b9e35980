-- Fail runs for good, or end them as expired or cancelled, and count in joins what was taken, unless an ack
-- in the same transaction is to do that (p_count false; see outbox_ack_runs). The next messages
-- with their ordering keys may be claimed, unless p_hold keeps them waiting. What was cancelled can be made
-- failed, as what was discarded later.
CREATE OR REPLACE FUNCTION pawl.outbox_fail_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_error text[], p_count boolean DEFAULT true,
                                                 p_expired boolean[] DEFAULT NULL, p_worker text DEFAULT NULL, p_keep integer DEFAULT 5,
                                                 p_hold boolean[] DEFAULT NULL, p_fingerprint text[] DEFAULT NULL, p_cancelled boolean[] DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got      bigint;
  v_lo       bigint[];
  v_n        integer[];
  v_ids      bigint[];
  v_attempts integer[];
  v_errors   text[];
  v_free_lo  bigint[];
  v_free_n   integer[];
BEGIN
  PERFORM pawl.check_isolation('fail');
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.retry, r.error, r.fingerprint, CASE WHEN r.expired THEN 5 WHEN r.cancelled THEN 4 ELSE 3 END AS status, coalesce(r.hold, false) AS hold
      FROM unnest(p_owner, p_lo, p_n, p_error, p_expired, p_hold, p_fingerprint, p_cancelled) r(owner, lo, n, error, expired, hold, fingerprint, cancelled), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  b AS MATERIALIZED (
    SELECT i AS id, t.retry, t.error, t.fingerprint, t.status FROM t, generate_series(t.lo, t.lo + t.n - 1) i),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, last_error, fingerprint, updated_at, failed_at)
    SELECT b.id, b.status, b.retry, b.error, b.fingerprint, clock_timestamp(), CASE WHEN b.status = 4 THEN clock_timestamp() END FROM b ORDER BY b.id
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, retry_count = excluded.retry_count, next_attempt_at = NULL,
      last_error = coalesce(excluded.last_error, e.last_error), fingerprint = CASE WHEN excluded.last_error IS NULL THEN e.fingerprint ELSE excluded.fingerprint END, updated_at = excluded.updated_at, failed_at = excluded.failed_at),
  a AS (
    SELECT array_agg(b.id) AS ids, array_agg(b.retry + 1) AS attempts, array_agg(b.error) AS errors FROM b WHERE b.status = 3)
  SELECT s.got, s.lo, s.n, s.free_lo, s.free_n, a.ids, a.attempts, a.errors INTO v_got, v_lo, v_n, v_free_lo, v_free_n, v_ids, v_attempts, v_errors
    FROM (SELECT coalesce(sum(t.n), 0) AS got, array_agg(t.lo) AS lo, array_agg(t.n) AS n,
                 array_agg(t.lo) FILTER (WHERE NOT t.hold) AS free_lo, array_agg(t.n) FILTER (WHERE NOT t.hold) AS free_n FROM t) s, a;
  IF v_ids IS NOT NULL THEN
    PERFORM pawl.outbox_attempted(v_ids, v_attempts, v_errors, p_worker, p_keep);
  END IF;
  IF v_free_lo IS NOT NULL THEN
    PERFORM pawl.outbox_order_release(v_free_lo, v_free_n);
  END IF;
  IF p_count AND v_got > 0 THEN
    PERFORM pawl.outbox_join_settle(v_lo, v_n);
  END IF;
  RETURN v_got;
END $f$;
