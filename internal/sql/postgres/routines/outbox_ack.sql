-- Mark messages as handled. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.outbox_ack(owner_token uuid, ids bigint[], processed_by text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  r record;
  o uuid[];
BEGIN
  PERFORM pawl.check_id('owner token', owner_token), pawl.check_text('processed by', processed_by, 255, false);
  r := pawl.outbox_runs(ids);
  o := array_fill(owner_token, ARRAY[cardinality(r.o_lo)]);
  PERFORM pawl.activity_count(o, r.o_lo, r.o_n, 'done');
  RETURN pawl.outbox_ack_runs(o, r.o_lo, r.o_n, processed_by);
END $f$;
