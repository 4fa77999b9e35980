-- Store results of messages, in order of their ids, for every join of which they are members.
-- A message that p_owner does not hold is ignored. The others are held until the transaction
-- ends, so that the ack which follows in it finds them. Members are read in a statement of
-- its own: only a new snapshot shows one that was attached while a lock was waited for. The lock
-- on joins is for the clean-up, which skips what is locked: who counts steps passes it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_results(p_owner uuid[], p_id bigint[], p_result bytea[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_run  pawl.outbox_claim;
  v_held boolean[] := '{}';
  v_last bigint; -- held: the same message may be asked for under another claim as well
  v_got  bigint;
BEGIN
  PERFORM pawl.check_isolation('store a result');
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
  INSERT INTO pawl.outbox_join_result (join_id, id, result)
  SELECT m.join_id, m.id, u.result
    FROM unnest(p_id, p_result, v_held) u(id, result, held)
   CROSS JOIN LATERAL (SELECT x.join_id, x.id FROM pawl.outbox_join_member x WHERE x.id = u.id OFFSET 0) m
   CROSS JOIN LATERAL (SELECT FROM pawl.outbox_join x WHERE x.join_id = m.join_id FOR KEY SHARE) j
   WHERE u.held
  ON CONFLICT (join_id, id) DO UPDATE SET result = excluded.result;
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
