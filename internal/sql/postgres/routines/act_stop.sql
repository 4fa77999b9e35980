-- Cancel messages for an operator, also those that run, and note it: see outbox_stop and act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_stop(p_ids bigint[], p_error text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('cancel', pawl.outbox_stop(p_ids, p_error));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_stop FROM PUBLIC;
