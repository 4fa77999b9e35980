-- Extend the lease of messages to lease_seconds from now. Returns how many of them
-- owner_token held.
CREATE OR REPLACE FUNCTION pawl.outbox_extend(owner_token uuid, ids bigint[], lease_seconds integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
BEGIN
  PERFORM pawl.check_id('owner token', owner_token), pawl.check_lease(lease_seconds);
  r := pawl.outbox_runs(ids);
  RETURN pawl.outbox_extend_runs(array_fill(owner_token, ARRAY[cardinality(r.o_lo)]), r.o_lo, r.o_n, make_interval(secs => lease_seconds));
END $f$;
