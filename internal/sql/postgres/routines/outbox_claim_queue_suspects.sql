-- Claim due suspects of a queue, within its limits: see outbox_claim_lanes.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_queue_suspects(p_queue text, p_owner uuid, p_lease interval, p_n integer)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_runs pawl.outbox_held[];
BEGIN
  IF (SELECT pawl.limited(l) FROM pawl.outbox_lane l WHERE l.queue = p_queue) THEN
    RETURN QUERY SELECT * FROM pawl.outbox_claim_within_limits('suspects', p_queue, p_owner, p_lease, p_n, p_n, NULL, NULL, NULL, NULL);
    RETURN;
  END IF;
  v_runs := pawl.outbox_claim_lanes('suspects', ARRAY(SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 0), p_owner, p_lease, p_n, NULL, NULL, NULL, NULL);
  RETURN QUERY pawl.held_rows(v_runs);
END $f$;
