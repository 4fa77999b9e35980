-- Add a waiter to the line, or extend its place. The lock orders this before or after a
-- release, so that none is missed.
CREATE OR REPLACE FUNCTION pawl.lease_enrol(p_name text, p_id uuid, p_alive interval) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  INSERT INTO pawl.lease_waiter (name, id, alive_until)
  SELECT p_name, p_id, clock_timestamp() + p_alive
   WHERE NOT EXISTS (SELECT 1 FROM pawl.lease l WHERE l.name = p_name AND l.holder = p_id)
  ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until;
END $f$;
