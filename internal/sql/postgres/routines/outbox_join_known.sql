-- Lock a join until the transaction ends, so that it is not deleted meanwhile. Returns 1, or
-- 0 for an unknown one. Runs with its owner's rights: a producer, who may wait for what it
-- started, has none to lock it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_known(p_join uuid) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = p_join FOR KEY SHARE;
  RETURN FOUND::integer;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_join_known FROM PUBLIC;
