-- Hold a join until the transaction ends, so that nobody forgets it meanwhile.
-- Returns 1, or 0 for an unknown one. The owner of the tables holds it: a producer,
-- who may wait for what it started, has no rights for that.
CREATE OR REPLACE FUNCTION pawl.outbox_join_known(p_join uuid) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = p_join FOR KEY SHARE;
  RETURN FOUND::integer;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_join_known FROM PUBLIC;
