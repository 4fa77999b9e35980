-- Add to the counters of joins that are locked. The last step ends a join.
CREATE OR REPLACE FUNCTION pawl.outbox_join_add(p_joins uuid[], p_completed integer[], p_failed integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_over uuid[];
BEGIN
  WITH u AS (
    UPDATE pawl.outbox_join j
       SET completed_steps = j.completed_steps + a.completed, failed_steps = j.failed_steps + a.failed, last_updated_utc = clock_timestamp(),
           status = CASE WHEN j.completed_steps + a.completed + j.failed_steps + a.failed < j.expected_steps THEN 0
                         WHEN j.failed_steps + a.failed > 0 THEN 2 ELSE 1 END
      FROM unnest(p_joins, p_completed, p_failed) a(id, completed, failed) WHERE j.join_id = a.id RETURNING j.join_id, j.status)
  SELECT array_agg(u.join_id) INTO v_over FROM u WHERE u.status <> 0;
  IF v_over IS NOT NULL THEN
    PERFORM pawl.outbox_join_wake(v_over);
  END IF;
END $f$;
