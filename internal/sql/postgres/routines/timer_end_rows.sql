-- End claimed timers: fired (2) or failed for good (3). The list is hashed, as in timer_abandon_rows.
CREATE OR REPLACE FUNCTION pawl.timer_end_rows(p_owner uuid, p_timers uuid[], p_status integer, p_error text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.timer t SET status = p_status, processed_at = clock_timestamp(), locked_until = NULL, last_error = coalesce(p_error, t.last_error)
   WHERE t.status = 1 AND t.owner = p_owner AND (t.timer_id IN (SELECT u.id FROM unnest(p_timers) u(id))) IS TRUE;
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
