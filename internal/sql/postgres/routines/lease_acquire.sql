-- Take a lease of a name, if it is free and nobody waits for it. Always one row; "acquired"
-- is true if the caller holds it. holder_id identifies the acquisition for the other lease_*
-- routines. With holder, a repeated call returns what the first one got.
CREATE OR REPLACE FUNCTION pawl.lease_acquire(name text, owner text, lease_seconds integer, holder uuid DEFAULT NULL)
RETURNS TABLE (acquired boolean, holder_id uuid, token bigint, lease_until_utc timestamptz, server_utc_now timestamptz) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_lease interval := pawl.check_duration(lease_seconds);
BEGIN
  PERFORM pawl.check_text('name', name, 255, true), pawl.check_text('owner', owner, 255, true);
  holder_id := coalesce(nullif(holder, '00000000-0000-0000-0000-000000000000'), gen_random_uuid());
  SELECT l.token, l.lease_until_utc INTO token, lease_until_utc FROM pawl.lease_acquire_row(name, owner, holder_id, v_lease) l;
  acquired := FOUND;
  server_utc_now := clock_timestamp();
  IF NOT acquired THEN
    holder_id := NULL;
  END IF;
  RETURN NEXT;
END $f$;
