-- End a pause for an operator, and note it: see act_cancel. What was parked of a topic is put back by
-- outbox_unpark_runs. Returns 1, or 0 if there is none.
CREATE OR REPLACE FUNCTION pawl.act_resume(p_kind text, p_name text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  IF p_kind = 'topic' THEN
    UPDATE pawl.outbox_pause p SET ending = true WHERE p.kind = p_kind AND p.name = p_name;
    GET DIAGNOSTICS v_got = ROW_COUNT;
  ELSE
    DELETE FROM pawl.outbox_pause p WHERE p.kind = p_kind AND p.name = p_name;
    GET DIAGNOSTICS v_got = ROW_COUNT;
    IF v_got > 0 THEN
      PERFORM pawl.outbox_wake(ARRAY[p_name]);
    END IF;
  END IF;
  RETURN pawl.noted('resume', v_got);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_resume FROM PUBLIC;
