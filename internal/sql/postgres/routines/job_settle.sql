-- Record the outcomes of runs whose messages are done or discarded. Failed ones may still be
-- redriven, and their messages stay: they are not recorded yet.
CREATE OR REPLACE FUNCTION pawl.job_settle() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.job_run r SET outcome = i.status, end_time = i.end_time, retry_count = i.retry_count, claimed_by = i.claimed_by, last_error = i.last_error
    FROM pawl.job_run_item i WHERE r.outcome IS NULL AND i.id = r.id AND i.outcome IS NULL AND i.status IN (2, 4);
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
