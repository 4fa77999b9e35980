-- Keep limits from being changed until the transaction ends: false if that takes long, since somebody
-- who changes them, or waits to, may have to wait for a transaction that does more. The lock is the
-- table's, which nobody can take without a right on it. SECURITY DEFINER: a worker has no right on the
-- whole table.
CREATE OR REPLACE FUNCTION pawl.outbox_limits_share() RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $f$
BEGIN
  LOCK TABLE pawl.outbox_limit IN ROW SHARE MODE;
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_limits_share FROM PUBLIC;
