-- Let no other transaction park a flow, or send it a signal, until this one ends.
CREATE OR REPLACE FUNCTION pawl.flow_lock(p_id bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pg_advisory_xact_lock(pawl.lock_key(concat('pawl.flow/', p_id)));
END $f$;
