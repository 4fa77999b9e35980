-- Make failed messages ready for an operator, and note it: see act_cancel.
CREATE OR REPLACE FUNCTION pawl.act_redrive(p_ids bigint[], p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('redrive', CASE WHEN cardinality(p_ids) > 0 THEN pawl.outbox_redrive_rows(p_ids) ELSE 0 END);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_redrive FROM PUBLIC;
