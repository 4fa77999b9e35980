-- Delete a job for an operator, and note it: see act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_job_remove(p_name text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('remove', pawl.job_remove(p_name));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_job_remove FROM PUBLIC;
