-- Send a flow a signal, and make it due if it waits for that. The signal whose name is empty cancels: it
-- is waited for by everything that is not claimed. Returns 0 for a message that is unknown, 2 for one that
-- is over, and otherwise 1. Runs with its owner's rights: a producer may not read what waits.
CREATE OR REPLACE FUNCTION pawl.flow_put_signal(p_message uuid, p_name text, p_payload bytea) RETURNS integer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_id    bigint := pawl.outbox_position(p_message);
  v_queue text;
BEGIN
  PERFORM pawl.check_isolation('send a signal');
  IF v_id IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock(pawl.flow_key(v_id));
  IF pawl.settled(v_id) THEN
    RETURN 2;
  END IF;
  IF p_name = '' THEN
    INSERT INTO pawl.outbox_stopping (id, owner, reason) SELECT v_id, c.owner, '' FROM pawl.run_of(pawl.outbox_claim, v_id) c WHERE c.lo + c.n > v_id
    ON CONFLICT (id) DO NOTHING;
  END IF;
  INSERT INTO pawl.flow_signal (id, nr, name, payload)
  SELECT v_id, 1 + coalesce((SELECT s.nr FROM pawl.flow_signal s WHERE s.id = v_id ORDER BY s.nr DESC LIMIT 1), 0), p_name, p_payload;
  WITH gone AS (
    DELETE FROM pawl.outbox_ready r WHERE r.lo = v_id AND r.n = 1 AND r.at > clock_timestamp()
       AND (p_name = '' OR EXISTS (SELECT FROM pawl.flow_wait w WHERE w.id = v_id AND w.name = p_name)) RETURNING r.lane, r.lo, r.retry, r.suspect),
  over AS (
    DELETE FROM pawl.flow_wait w USING gone WHERE w.id = gone.lo),
  back AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) SELECT gone.lane, clock_timestamp(), gone.lo, 1, gone.retry, gone.suspect FROM gone)
  SELECT l.queue INTO v_queue FROM gone JOIN pawl.outbox_lane l ON l.id = gone.lane;
  IF v_queue IS NOT NULL THEN
    PERFORM pawl.outbox_wake(ARRAY[v_queue]);
  END IF;
  RETURN 1;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.flow_put_signal FROM PUBLIC;
