-- Change the due time of messages for an operator, and note it: see act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_reschedule(p_ids bigint[], p_at timestamptz, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('reschedule', pawl.outbox_reschedule(p_ids, p_at));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_reschedule FROM PUBLIC;
