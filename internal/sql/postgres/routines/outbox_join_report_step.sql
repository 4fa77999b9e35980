-- Count a member as completed (1) or failed (2) by hand. Returns 0 for an unknown join, 1 if
-- this call counted it, 2 if it was counted before or the join has ended, 3 for a message
-- that is no member.
CREATE OR REPLACE FUNCTION pawl.outbox_join_report_step(p_join uuid, p_message uuid, p_status integer) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_status smallint;
  v_member smallint;
BEGIN
  PERFORM pawl.check_isolation('report');
  SELECT j.status INTO v_status FROM pawl.outbox_join j WHERE j.join_id = p_join FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT m.status INTO v_member FROM pawl.outbox_join_member m WHERE m.join_id = p_join AND m.outbox_message_id = p_message;
  IF NOT FOUND THEN
    RETURN 3;
  END IF;
  IF v_status <> 0 OR v_member <> 0 THEN
    RETURN 2;
  END IF;
  UPDATE pawl.outbox_join_member m SET status = p_status WHERE m.join_id = p_join AND m.outbox_message_id = p_message;
  PERFORM pawl.outbox_join_add(ARRAY[p_join], ARRAY[(p_status = 1)::integer], ARRAY[(p_status = 2)::integer]);
  RETURN 1;
END $f$;
