-- Lock a join and then messages of it until the transaction ends, so that its steps and waits can be
-- redriven. The join comes first, other than elsewhere, so that two calls do not meet at its
-- messages: it has failed, and who counts steps does not lock it then. The lock is the one that an
-- attach waits for. Messages that are being deleted are left out. Runs with its owner's rights: an
-- operator has none to lock what is claimed or done.
CREATE OR REPLACE FUNCTION pawl.outbox_join_hold(p_join uuid, p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_held record;
BEGIN
  PERFORM pawl.check_isolation('redrive');
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = p_join FOR UPDATE;
  LOOP
    v_held := pawl.outbox_hold(p_ids);
    EXIT WHEN v_held.o_gone IS NULL;
    p_ids := array_remove(p_ids, v_held.o_gone);
  END LOOP;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_join_hold FROM PUBLIC;
