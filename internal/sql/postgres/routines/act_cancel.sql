-- Cancel messages for an operator, and note it: see outbox_cancel. The routines named act_ run with
-- their owner's rights. So an operator needs no rights on what they change, and cannot change it
-- without a trace.
CREATE OR REPLACE FUNCTION pawl.act_cancel(p_ids bigint[], p_error text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('cancel', pawl.outbox_cancel(p_ids, p_error));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_cancel FROM PUBLIC;
