-- Record the outcomes of runs whose messages are done or discarded. Failed ones may still be
-- redriven, and their messages stay: they are not recorded yet.
CREATE OR REPLACE FUNCTION pawl.job_settle() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.job_run r
     SET (outcome, end_time, retry_count, claimed_by, last_error) = (SELECT i.status, i.end_time, i.retry_count, i.claimed_by, i.last_error FROM pawl.job_run_item i WHERE i.id = r.id)
   WHERE r.id = ANY (ARRAY(SELECT i.id FROM pawl.job_run_item i WHERE i.outcome IS NULL AND i.status IN (2, 4)));
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
