-- Ack runs, and count in joins what was taken: another claim, of the same worker perhaps, may
-- hold a part of what was requested. p_also_*: runs that this transaction failed without
-- counting: settling both at once takes every lock on messages before any on a join. The
-- statement that adds up what was requested, after the move, tests whether there are members
-- to count or other messages with their ordering keys: a program without them pays for two probes
-- per run.
CREATE OR REPLACE FUNCTION pawl.outbox_ack_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_by text, p_also_lo bigint[] DEFAULT '{}', p_also_n integer[] DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got     bigint;
  v_lo      bigint[];
  v_n       integer[];
  v_asked   bigint;
  v_members boolean;
  v_ordered boolean;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN -- a call less
    PERFORM pawl.check_isolation('ack');
  END IF;
  WITH gone AS (
    DELETE FROM pawl.outbox_claim c USING unnest(p_owner, p_lo, p_n) r(owner, lo, n)
     WHERE c.lo >= r.lo AND c.lo < r.lo + r.n AND c.lo + c.n <= r.lo + r.n AND c.owner = r.owner RETURNING c.lo, c.n, c.owner),
  kept AS (
    INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
    SELECT gone.lo, gone.n, clock_timestamp(), gone.owner, p_by FROM gone)
  SELECT coalesce(sum(gone.n), 0), coalesce(array_agg(gone.lo), '{}'), coalesce(array_agg(gone.n), '{}') INTO v_got, v_lo, v_n FROM gone;
  SELECT coalesce(sum(r.n), 0), coalesce(bool_or(EXISTS (
           SELECT FROM pawl.outbox_join_member m WHERE m.id >= r.lo AND m.id < r.lo + r.n AND m.status = 0)), false),
         coalesce(bool_or(EXISTS (SELECT FROM pawl.outbox_order o WHERE o.id >= r.lo AND o.id < r.lo + r.n)), false)
    INTO v_asked, v_members, v_ordered FROM unnest(p_lo, p_n) r(lo, n);
  IF v_got < v_asked THEN
    WITH kept AS (
      INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
      SELECT t.lo, t.n, clock_timestamp(), t.owner, p_by
        FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) t RETURNING lo, n)
    SELECT v_got + coalesce(sum(kept.n), 0), v_lo || array_agg(kept.lo), v_n || array_agg(kept.n) INTO v_got, v_lo, v_n FROM kept;
    v_members := cardinality(v_lo) > 0; -- the probes above are older than these moves
    v_ordered := v_members;
  END IF;
  IF v_ordered THEN
    PERFORM pawl.outbox_order_release(v_lo, v_n);
  END IF;
  IF v_members OR cardinality(p_also_lo) > 0 THEN
    PERFORM pawl.outbox_join_settle(v_lo || p_also_lo, v_n || p_also_n);
  END IF;
  RETURN v_got;
END $f$;
