-- Store results of messages, in order of their ids: for every join of which they are members or, of
-- one that is no member, for those who await it. A message that p_owner does not hold is ignored. The
-- others are held until the transaction ends, so that the ack which follows in it finds them. Members
-- are read in a statement of its own: only a new snapshot shows one that was attached while a lock was
-- waited for. The lock on joins is for the clean-up, which skips what is locked: who counts steps passes it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_results(p_owner uuid[], p_id bigint[], p_result bytea[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_held boolean[];
  v_got  bigint;
  v_more bigint;
BEGIN
  PERFORM pawl.check_isolation('store a result');
  v_held := pawl.outbox_hold_claimed(p_owner, p_id);
  INSERT INTO pawl.outbox_join_result (join_id, id, result)
  SELECT m.join_id, m.id, u.result
    FROM unnest(p_id, p_result, v_held) u(id, result, held)
   CROSS JOIN LATERAL (SELECT x.join_id, x.id FROM pawl.outbox_join_member x WHERE x.id = u.id OFFSET 0) m
   CROSS JOIN LATERAL (SELECT FROM pawl.outbox_join x WHERE x.join_id = m.join_id FOR KEY SHARE) j
   WHERE u.held
  ON CONFLICT (join_id, id) DO UPDATE SET result = excluded.result;
  GET DIAGNOSTICS v_got = ROW_COUNT;
  INSERT INTO pawl.outbox_result (id, result)
  SELECT u.id, u.result FROM unnest(p_id, p_result, v_held) u(id, result, held)
   WHERE u.held AND length(u.result) > 0 AND NOT EXISTS (SELECT FROM pawl.outbox_join_member x WHERE x.id = u.id OFFSET 0)
  ON CONFLICT (id) DO UPDATE SET result = excluded.result;
  GET DIAGNOSTICS v_more = ROW_COUNT;
  RETURN v_got + v_more;
END $f$;
