-- Run a job now, in addition to its schedule. Returns 0 for an unknown one.
CREATE OR REPLACE FUNCTION pawl.job_trigger_run(p_name text, p_id bigint, p_run uuid) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_job uuid;
BEGIN
  SELECT j.id INTO v_job FROM pawl.job j WHERE j.name = p_name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  RETURN pawl.job_make_run(v_job, p_id, p_run, clock_timestamp(), 0, true);
END $f$;
