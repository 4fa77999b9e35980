-- End a limit for an operator, and note it: see limit_end and act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_unlimit(p_kind text, p_name text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('unlimit', pawl.limit_end(p_kind, p_name));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_unlimit FROM PUBLIC;
