-- End a lease for an operator, and note it: see lease_force and act_cancel. Returns 1, or 0 if it was not held.
CREATE OR REPLACE FUNCTION pawl.act_release(p_name text, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.noted('release', (SELECT count(*) FROM pawl.lease_force(p_name)));
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.act_release FROM PUBLIC;
