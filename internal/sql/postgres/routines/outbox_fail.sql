-- Mark messages as failed for good. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.outbox_fail(owner_token uuid, ids bigint[], error text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  PERFORM pawl.check_id('owner token', owner_token);
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  PERFORM pawl.activity_count(array_fill(owner_token, k), r.o_lo, r.o_n, 'failed', pawl.plain_print(pawl.check_error(error)));
  RETURN pawl.outbox_fail_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(pawl.check_error(error), k));
END $f$;
