-- Give messages another topic for an operator, and note it: see outbox_retopic and act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_retopic(p_ids bigint[], p_topic text, p_lane bigint, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('retopic', pawl.outbox_retopic(p_ids, p_topic, p_lane));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_retopic FROM PUBLIC;
