CREATE OR REPLACE FUNCTION pawl.outbox_release(owner_token uuid, ids bigint[], delay interval DEFAULT interval '0') RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_release_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(delay, k));
END $f$;
