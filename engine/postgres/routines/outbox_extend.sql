CREATE OR REPLACE FUNCTION pawl.outbox_extend(owner_token uuid, ids bigint[], lease_seconds integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
BEGIN
  r := pawl.outbox_runs(ids);
  RETURN pawl.outbox_extend_runs(array_fill(owner_token, ARRAY[cardinality(r.o_lo)]), r.o_lo, r.o_n, make_interval(secs => lease_seconds));
END $f$;
