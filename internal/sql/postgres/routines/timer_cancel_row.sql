-- Cancel the pending timer of a key. Returns 1, or 0 if there is none. It reads only the key's
-- entry in its index, whatever the size of the table: a serializable transaction conflicts
-- with changes of everything that it read.
CREATE OR REPLACE FUNCTION pawl.timer_cancel_row(p_key text) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
BEGIN
  UPDATE pawl.timer t SET status = 4, processed_at = clock_timestamp() WHERE t.key = p_key AND t.status < 2 AND t.status = 0;
  RETURN FOUND::integer;
END $f$;
