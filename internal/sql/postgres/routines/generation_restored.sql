-- Begin a new generation after a restore: with ids and fencing tokens above all that may have
-- been allocated, without held leases and without registered workers. The gap of 2^32 ids is
-- for those that were allocated after the backup was made. Returns the generation's number.
CREATE OR REPLACE FUNCTION pawl.generation_restored() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_gap    constant bigint := 4294967296;
  v_number bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(pawl.lock_key('pawl.generation'));
  INSERT INTO pawl.generation DEFAULT VALUES ON CONFLICT (one) DO NOTHING;
  PERFORM pawl.generation_raise(g.id, p.o_place) FROM pawl.generation g, pawl.generation_place() p;
  SELECT g.number INTO v_number FROM pawl.generation g;
  PERFORM setval('pawl.outbox_block', greatest(nextval('pawl.outbox_block'), pawl.outbox_highest(1, 140737488355327) / 4096) + v_gap / 4096);
  PERFORM setval('pawl.outbox_single', greatest(nextval('pawl.outbox_single'), pawl.outbox_highest(140737488355328, 281474976710655)) + v_gap);
  UPDATE pawl.lease l SET token = greatest(l.token + 1, v_number << 12), owner = NULL, holder = NULL, lease_until_utc = NULL;
  DELETE FROM pawl.lease_waiter;
  DELETE FROM pawl.worker_process;
  PERFORM pawl.outbox_adopt('{}');
  RETURN v_number;
END $f$;
