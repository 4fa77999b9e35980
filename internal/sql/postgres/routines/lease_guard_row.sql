-- One row if p_holder has the lease under this token, which is then locked until the
-- transaction ends. A plain query with the lock in it would check the time before it waits
-- for the lock. The lock does not block renewals, and so it would also be granted on an old
-- version of the row, from before another holder's acquisition: hence read committed.
CREATE OR REPLACE FUNCTION pawl.lease_guard_row(p_name text, p_holder uuid, p_token bigint) RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_row pawl.lease;
BEGIN
  PERFORM pawl.check_isolation('guard');
  SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR KEY SHARE;
  IF v_row.holder = p_holder AND v_row.token = p_token AND v_row.lease_until_utc > clock_timestamp() THEN
    RETURN NEXT v_row.token;
  END IF;
END $f$;
