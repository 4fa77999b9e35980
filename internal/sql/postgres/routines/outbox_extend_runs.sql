-- A lease can be extended while another transaction attaches its messages to a join: the key
-- of the run stays, so the weaker lock is enough.
CREATE OR REPLACE FUNCTION pawl.outbox_extend_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_lease interval) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_lo  bigint[];
  v_got bigint;
BEGIN
  SELECT array_agg(held.lo), coalesce(sum(held.n), 0) INTO v_lo, v_got FROM (
    SELECT c.lo, c.n FROM (SELECT * FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n) ORDER BY r.lo) r, LATERAL (
      SELECT x.lo, x.n FROM pawl.outbox_claim x
       WHERE x.lo >= r.lo AND x.lo < r.lo + r.n AND x.lo + x.n <= r.lo + r.n AND x.owner = r.owner ORDER BY x.lo FOR NO KEY UPDATE) c) held;
  IF v_got = (SELECT sum(n) FROM unnest(p_n) n) THEN
    UPDATE pawl.outbox_claim c SET locked_until = clock_timestamp() + p_lease WHERE c.lo = ANY (v_lo);
    RETURN v_got;
  END IF;
  WITH t AS MATERIALIZED (
    SELECT x.* FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  back AS (
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
    SELECT t.lo, t.n, t.lane, t.at, t.retry, t.owner, clock_timestamp() + p_lease, t.suspect FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;
