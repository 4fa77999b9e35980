-- Give a dead message of the inbox and its queued message new attempts for an operator, and note it:
-- see act_cancel. Returns 1, or 0 if it is not dead.
CREATE OR REPLACE FUNCTION pawl.act_revive(p_source text, p_message text, p_queued_as uuid, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  UPDATE pawl.inbox i SET status = 'Seen', attempts = 0 WHERE i.source = p_source AND i.message_id = p_message AND i.status = 'Dead';
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_redrive_rows(ARRAY[pawl.outbox_position(p_queued_as)]);
  RETURN pawl.noted('revive', 1);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_revive FROM PUBLIC;
