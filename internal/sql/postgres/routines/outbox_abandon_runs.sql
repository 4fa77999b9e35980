-- Abandon runs: back to ready with one more retry, after a delay (null: backoff). p_yield: the
-- next messages with their ordering keys may be claimed; when the delay is over they come first
-- among those that wait then. p_uncounted: not one more, and no attempt is kept.
CREATE OR REPLACE FUNCTION pawl.outbox_abandon_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[], p_error text[],
                                                    p_worker text DEFAULT NULL, p_keep integer DEFAULT 5,
                                                    p_yield boolean[] DEFAULT NULL, p_uncounted boolean[] DEFAULT NULL,
                                                    p_fingerprint text[] DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got      bigint;
  v_ids      bigint[];
  v_attempts integer[];
  v_errors   text[];
  v_yield    bigint[];
BEGIN
  IF true = ANY (p_yield) THEN
    PERFORM pawl.check_isolation('abandon');
  END IF;
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, coalesce(r.yield, false) AS yield, coalesce(r.uncounted, false) AS uncounted,
           CASE WHEN r.uncounted THEN x.retry ELSE x.retry + 1 END AS retry, r.error, r.fingerprint, clock_timestamp() + coalesce(r.delay, pawl.backoff(x.retry) * interval '1 second') AS at
      FROM unnest(p_owner, p_lo, p_n, p_delay, p_error, p_yield, p_uncounted, p_fingerprint) r(owner, lo, n, delay, error, yield, uncounted, fingerprint), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  b AS MATERIALIZED (
    SELECT i AS id, t.retry, t.at, t.error, t.fingerprint, t.yield, t.uncounted FROM t, generate_series(t.lo, t.lo + t.n - 1) i),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, fingerprint, updated_at)
    SELECT b.id, 0, b.retry, b.at, b.error, b.fingerprint, clock_timestamp() FROM b ORDER BY b.id
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = coalesce(excluded.last_error, e.last_error), fingerprint = CASE WHEN excluded.last_error IS NULL THEN e.fingerprint ELSE excluded.fingerprint END, updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry FROM t WHERE NOT t.yield
    UNION ALL SELECT m.lane, b.at, b.id, 1, b.retry FROM b JOIN pawl.outbox_message m ON m.id = b.id WHERE b.yield)
  SELECT count(*), array_agg(b.id) FILTER (WHERE NOT b.uncounted), array_agg(b.retry) FILTER (WHERE NOT b.uncounted),
         array_agg(b.error) FILTER (WHERE NOT b.uncounted), array_agg(b.id) FILTER (WHERE b.yield)
    INTO v_got, v_ids, v_attempts, v_errors, v_yield FROM b;
  IF v_ids IS NOT NULL THEN
    PERFORM pawl.outbox_attempted(v_ids, v_attempts, v_errors, p_worker, p_keep);
  END IF;
  IF v_yield IS NOT NULL THEN
    PERFORM pawl.outbox_order_release(v_yield, array_fill(1, ARRAY[cardinality(v_yield)]));
  END IF;
  RETURN v_got;
END $f$;
