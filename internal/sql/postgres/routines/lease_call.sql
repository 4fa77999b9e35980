-- Notify the first waiter if the lease is free, and return its id.
CREATE OR REPLACE FUNCTION pawl.lease_call(p_name text) RETURNS SETOF uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id uuid;
BEGIN
  IF EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.lease_until_utc > clock_timestamp()) THEN
    RETURN;
  END IF;
  SELECT w.id INTO v_id FROM pawl.lease_waiter w WHERE w.name = p_name AND w.alive_until > clock_timestamp() ORDER BY w.ticket LIMIT 1;
  IF FOUND THEN
    PERFORM pawl.outbox_wake(ARRAY['lease/' || v_id]);
    RETURN NEXT v_id;
  END IF;
END $f$;
