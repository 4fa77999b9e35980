-- Take discards of messages back for an operator, and note it: see act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_undiscard(p_ids bigint[], p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('undiscard', pawl.outbox_undiscard(p_ids));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_undiscard FROM PUBLIC;
