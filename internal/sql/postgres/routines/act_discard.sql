-- Discard failed messages for an operator, and note it: see act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_discard(p_ids bigint[], p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('discard', CASE WHEN cardinality(p_ids) > 0 THEN pawl.outbox_discard(p_ids, p_note) ELSE 0 END);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_discard FROM PUBLIC;
