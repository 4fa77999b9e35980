-- Fail the caller's transaction unless holder has the lease under this token, and keep it so
-- until the transaction ends.
CREATE OR REPLACE FUNCTION pawl.lease_guard(name text, holder uuid, token bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('name', name, 255, true), pawl.check_id('holder', holder), pawl.check_null('token', token IS NULL);
  IF NOT EXISTS (SELECT FROM pawl.lease_guard_row(name, holder, token)) THEN
    RAISE EXCEPTION 'lease lost: "%"', name USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $f$;
