CREATE OR REPLACE FUNCTION pawl.outbox_abandon(owner_token uuid, ids bigint[], error text DEFAULT NULL, delay interval DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_abandon_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(delay, k), array_fill(error, k));
END $f$;
