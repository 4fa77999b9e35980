-- Limit what a program's handlers need limited, in the name of the program p_owner; no bounds: end its
-- limit. Returns 1, 0 if nothing changes, or -1 if somebody else set the limit: that one stays, and shows what is
-- declared. SECURITY
-- DEFINER: a worker may not change limits, and this changes only those of programs.
CREATE OR REPLACE FUNCTION pawl.limit_declare(p_kind text, p_name text, p_concurrency integer, p_rate integer, p_period interval, p_burst integer, p_owner text, p_reason text, p_declared text)
RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE; -- see outbox_limits_share
  UPDATE pawl.outbox_limit l SET declared = p_declared WHERE l.kind = p_kind AND l.name = p_name AND l.pattern = '' AND l.actor <> 'declared by ' || p_owner;
  IF FOUND THEN
    RETURN -1;
  END IF;
  IF p_concurrency IS NULL AND p_rate IS NULL THEN
    RETURN pawl.limit_end(p_kind, p_name);
  END IF;
  RETURN pawl.limit_put(p_kind, p_name, p_concurrency, p_rate, p_period, p_burst, 'declared by ' || p_owner, p_reason);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.limit_declare FROM PUBLIC;
