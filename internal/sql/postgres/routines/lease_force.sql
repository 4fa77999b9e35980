-- End a lease, whoever holds it, and raise the token. One row if it was held.
CREATE OR REPLACE FUNCTION pawl.lease_force(p_name text) RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  RETURN QUERY
  UPDATE pawl.lease l SET owner = NULL, holder = NULL, lease_until_utc = NULL, token = l.token + 1
   WHERE l.name = p_name AND l.holder IS NOT NULL RETURNING l.token;
END $f$;
