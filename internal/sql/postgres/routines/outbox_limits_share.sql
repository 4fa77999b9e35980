-- Keep limits from being changed until the transaction ends: false if that takes long, since somebody
-- who changes them, or waits to, may have to wait for a transaction that does more.
CREATE OR REPLACE FUNCTION pawl.outbox_limits_share() RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $f$
BEGIN
  IF pg_try_advisory_xact_lock_shared(pawl.limits_key()) THEN
    RETURN true;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(pawl.limits_key());
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $f$;
