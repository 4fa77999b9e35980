-- Lock messages, in order of their ids, whose owners have claimed them, until the transaction ends.
-- Returns of each whether it is locked. Of a message that is asked for twice the second is not.
CREATE OR REPLACE FUNCTION pawl.outbox_hold_claimed(p_owner uuid[], p_id bigint[]) RETURNS boolean[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_run  pawl.outbox_claim;
  v_held boolean[] := '{}';
  v_last bigint;
BEGIN
  FOR i IN 1 .. coalesce(cardinality(p_id), 0) LOOP
    IF p_id[i] = v_last THEN
      v_held := v_held || false;
      CONTINUE;
    END IF;
    WHILE (v_run.owner = p_owner[i] AND v_run.lo <= p_id[i] AND v_run.lo + v_run.n > p_id[i]) IS NOT TRUE LOOP
      SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo <= p_id[i] ORDER BY c.lo DESC LIMIT 1;
      IF (v_run.owner = p_owner[i] AND v_run.lo + v_run.n > p_id[i]) IS NOT TRUE THEN
        v_run := NULL;
        EXIT;
      END IF;
      SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo = v_run.lo AND c.n = v_run.n AND c.owner = v_run.owner FOR UPDATE;
    END LOOP;
    v_held := v_held || (v_run.lo IS NOT NULL);
    IF v_run.lo IS NOT NULL THEN
      v_last := p_id[i];
    END IF;
  END LOOP;
  RETURN v_held;
END $f$;
