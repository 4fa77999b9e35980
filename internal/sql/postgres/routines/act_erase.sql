-- Erase messages for an operator, and note it: see outbox_erase and act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_erase(p_ids bigint[], p_error text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('erase', pawl.outbox_erase(p_ids, p_error));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_erase FROM PUBLIC;
