-- Run a job now, in addition to its schedule. Returns the run's id, which is the message's.
CREATE OR REPLACE FUNCTION pawl.job_trigger(job_name text) RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id  bigint := nextval('pawl.outbox_single');
  v_run uuid := pawl.outbox_message_id(v_id);
BEGIN
  PERFORM pawl.check_text('job name', $1, 255, true);
  IF pawl.job_trigger_run($1, v_id, v_run) = 0 THEN
    RAISE EXCEPTION 'job % not found', $1 USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM pawl.audit_own('trigger', 'job ' || $1, true);
  RETURN v_run;
END $f$;
