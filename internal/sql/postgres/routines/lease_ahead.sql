-- How many live waiters are before p_id, or in all if it does not wait itself.
CREATE OR REPLACE FUNCTION pawl.lease_ahead(p_name text, p_id uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN (SELECT count(*) FROM pawl.lease_waiter w
           WHERE w.name = p_name AND w.id IS DISTINCT FROM p_id AND w.alive_until > clock_timestamp()
             AND w.ticket < coalesce((SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = p_id), 9223372036854775807));
END $f$;
