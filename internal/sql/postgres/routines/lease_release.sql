-- Release a lease, and notify the next waiter: true if holder still had it.
CREATE OR REPLACE FUNCTION pawl.lease_release(name text, holder uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_column
DECLARE
  v_held boolean;
BEGIN
  PERFORM pawl.check_text('name', $1, 255, true), pawl.check_id('holder', $2);
  UPDATE pawl.lease l SET owner = NULL, holder = NULL, lease_until_utc = NULL WHERE l.name = $1 AND l.holder = $2;
  v_held := FOUND;
  PERFORM pawl.lease_call($1);
  RETURN v_held;
END $f$;
