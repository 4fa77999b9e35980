-- Begin a new generation, unless it is no longer p_id's. The second statement records the
-- transaction that wrote the row: within a savepoint that is the subtransaction.
CREATE OR REPLACE FUNCTION pawl.generation_raise(p_id uuid, p_place text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  UPDATE pawl.generation g
     SET id = gen_random_uuid(), number = greatest(g.number + 1, floor(extract(epoch FROM v_now - timestamptz '2024-01-01 UTC') * 1000)::bigint),
         since = v_now, place = p_place
   WHERE g.id = p_id;
  IF FOUND THEN
    UPDATE pawl.generation g SET written = g.xmin::text;
  END IF;
END $f$;
