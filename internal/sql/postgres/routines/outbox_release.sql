-- Put messages back without counting an attempt, at once or after a delay.
-- Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.outbox_release(owner_token uuid, ids bigint[], delay interval DEFAULT interval '0') RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  PERFORM pawl.check_id('owner token', owner_token);
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_release_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(pawl.check_delay(delay), k), array_fill(true, k));
END $f$;
