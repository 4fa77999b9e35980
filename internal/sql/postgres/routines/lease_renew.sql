-- Extend a lease to lease_seconds from now. Returns its new end, or null: holder no longer
-- has it, and what it protects has to stop.
CREATE OR REPLACE FUNCTION pawl.lease_renew(name text, holder uuid, lease_seconds integer) RETURNS timestamptz LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_lease interval := pawl.check_duration(lease_seconds);
BEGIN
  PERFORM pawl.check_text('name', name, 255, true), pawl.check_id('holder', holder);
  RETURN (SELECT r.until FROM pawl.lease_renew_row(name, holder, v_lease) r(until));
END $f$;
