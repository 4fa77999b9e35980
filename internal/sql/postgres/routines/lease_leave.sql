-- Remove a waiter from the line.
CREATE OR REPLACE FUNCTION pawl.lease_leave(p_name text, p_id uuid) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM 1 FROM pawl.lease l WHERE l.name = p_name FOR NO KEY UPDATE;
  DELETE FROM pawl.lease_waiter w WHERE w.id = p_id;
END $f$;
