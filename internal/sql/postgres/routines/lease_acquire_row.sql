-- Take a lease that is free and for which nobody waits before p_holder. A repeated call with
-- the same p_holder returns the lease it already has. The token carries the generation in its
-- high bits, so that tokens after a failover or a restore are greater than all before.
CREATE OR REPLACE FUNCTION pawl.lease_acquire_row(p_name text, p_owner text, p_holder uuid, p_lease interval)
RETURNS TABLE (token bigint, lease_until_utc timestamptz) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_column
DECLARE
  v_row    pawl.lease;
  v_number bigint;
BEGIN
  -- No lock where it is clearly held: that would wait for the holder's guards.
  IF EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.holder <> p_holder AND l.lease_until_utc > clock_timestamp()) THEN
    RETURN;
  END IF;
  SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO pawl.lease (name, token) VALUES (p_name, 0) ON CONFLICT (name) DO NOTHING;
    SELECT * INTO v_row FROM pawl.lease l WHERE l.name = p_name FOR UPDATE;
  END IF;
  -- The clock is read only now: a lease is whole however long the lock took (D-63).
  IF v_row.holder <> p_holder AND v_row.lease_until_utc > clock_timestamp() OR pawl.lease_ahead(p_name, p_holder) > 0 THEN
    RETURN;
  END IF;
  SELECT g.o_number INTO v_number FROM pawl.generation_look() g;
  RETURN QUERY
  UPDATE pawl.lease l
     SET owner = p_owner, holder = p_holder, token = CASE WHEN l.holder = p_holder THEN l.token ELSE greatest(l.token + 1, (v_number << 12) + 1) END,
         lease_until_utc = clock_timestamp() + p_lease, last_granted_utc = clock_timestamp()
   WHERE l.name = p_name RETURNING l.token, l.lease_until_utc;
END $f$;
