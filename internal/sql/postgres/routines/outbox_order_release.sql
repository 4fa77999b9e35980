-- Messages have ended, or no longer keep those of their ordering keys waiting: the next of each
-- key becomes its head (outbox_order_lead). The delete waits for a claim that adds to the line of one
-- of these keys, and the statements behind it see what that added.
CREATE OR REPLACE FUNCTION pawl.outbox_order_release(p_lo bigint[], p_n integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_lanes bigint[];
  v_keys  text[];
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_order o USING unnest(p_lo, p_n) r(lo, n) WHERE o.id >= r.lo AND o.id < r.lo + r.n RETURNING o.lane, o.key, o.head)
  SELECT array_agg(gone.lane), array_agg(gone.key) INTO v_lanes, v_keys FROM gone WHERE gone.head;
  IF v_lanes IS NOT NULL THEN
    PERFORM pawl.outbox_order_lead(v_lanes, v_keys);
  END IF;
END $f$;
