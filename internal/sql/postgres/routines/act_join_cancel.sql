-- Cancel a join for an operator, and note it: see act_cancel. Returns what outbox_join_end does.
CREATE OR REPLACE FUNCTION pawl.act_join_cancel(p_join uuid, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got integer;
BEGIN
  v_got := pawl.outbox_join_end(p_join, 3);
  PERFORM pawl.noted('cancel', (v_got = 1)::integer);
  RETURN v_got;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_join_cancel FROM PUBLIC;
