-- Extend a lease that p_holder still has. No row: it has not.
CREATE OR REPLACE FUNCTION pawl.lease_renew_row(p_name text, p_holder uuid, p_lease interval) RETURNS SETOF timestamptz LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  RETURN QUERY
  UPDATE pawl.lease l SET lease_until_utc = clock_timestamp() + p_lease
   WHERE l.name = p_name AND l.holder = p_holder AND l.lease_until_utc > clock_timestamp() RETURNING l.lease_until_utc;
END $f$;
