-- Attach messages to a join; those already settled are counted at once (D-31). Returns 0, or
-- 1 for an unknown join, or 1 + the number of an unknown message, or 1 + the number of a message that
-- is a wait of this join, which would wait for itself, + how many there are; then nothing was attached.
-- Runs with its owner's rights: a producer, who may attach what it enqueued, has none to lock
-- messages and count.
CREATE OR REPLACE FUNCTION pawl.outbox_join_attach_all(p_join uuid, p_messages uuid[]) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_ids  bigint[];
  v_held record;
  v_wait integer;
BEGIN
  PERFORM pawl.check_isolation('attach');
  v_ids := ARRAY(SELECT pawl.outbox_position(u.message) FROM unnest(p_messages) WITH ORDINALITY u(message, nth) ORDER BY u.nth);
  IF array_position(v_ids, NULL) IS NOT NULL THEN
    RETURN 1 + array_position(v_ids, NULL);
  END IF;
  v_held := pawl.outbox_hold(v_ids);
  IF v_held.o_gone IS NOT NULL THEN
    RETURN 1 + array_position(v_ids, v_held.o_gone);
  END IF;
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = p_join FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN 1;
  END IF;
  v_wait := (SELECT min(u.nth) FROM unnest(v_ids) WITH ORDINALITY u(id, nth) WHERE EXISTS (SELECT FROM pawl.outbox_join_wait w WHERE w.id = u.id AND w.join_id = p_join));
  IF v_wait IS NOT NULL THEN
    RETURN 1 + v_wait + cardinality(v_ids);
  END IF;
  INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id)
  SELECT p_join, u.id, u.message FROM unnest(v_ids, p_messages) u(id, message) ORDER BY u.message ON CONFLICT DO NOTHING;
  IF v_held.o_settled IS NOT NULL THEN -- else no join needs to be locked
    PERFORM pawl.outbox_join_settle(r.o_lo, r.o_n) FROM pawl.outbox_runs(v_held.o_settled) r;
  END IF;
  RETURN 0;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_join_attach_all FROM PUBLIC;
