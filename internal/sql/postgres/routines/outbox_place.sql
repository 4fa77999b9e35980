-- Make a message that is in no place ready again, or due when it was to be. What moves a message deletes
-- it where it is and inserts it elsewhere in one transaction, so one that a snapshot shows nowhere is
-- moved by nobody but a second repair, which waits for this one. A message with an ordering key is put
-- in order by the next claim. Returns 1, or 0 if the message is somewhere, or does not exist.
CREATE OR REPLACE FUNCTION pawl.outbox_place(p_id bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
BEGIN
  PERFORM pawl.check_isolation('repair');
  PERFORM pg_advisory_xact_lock(pawl.lock_key('pawl.outbox_place'));
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
  SELECT m.lane, coalesce(m.due_at, clock_timestamp()), m.id, 1, coalesce((SELECT e.retry_count FROM pawl.outbox_exception e WHERE e.id = m.id), 0)
    FROM pawl.outbox_message m WHERE m.id = p_id AND pawl.nowhere(m.id);
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_wake(ARRAY(SELECT l.queue FROM pawl.outbox_message m JOIN pawl.outbox_lane l ON l.id = m.lane WHERE m.id = p_id));
  RETURN 1;
END $f$;
