-- Delete a job and its pending runs: false if there was none.
CREATE OR REPLACE FUNCTION pawl.job_delete(job_name text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('job name', $1, 255, true);
  RETURN pawl.act_job_remove($1, NULL, current_user::text, 'job ' || $1, NULL) = 1;
END $f$;
