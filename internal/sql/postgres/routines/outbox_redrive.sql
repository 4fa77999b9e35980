-- Make those of these messages that failed ready again, with all attempts left, and subtract
-- their failures in joins that are still pending (D-38). Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_redrive(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp(); -- one time for all: they come in order of their ids
  v_ids    bigint[];
  v_queues text[];
BEGIN
  PERFORM pawl.check_isolation('redrive');
  WITH e AS (
    UPDATE pawl.outbox_exception e SET status = 0, retry_count = 0, next_attempt_at = v_now, redrives = e.redrives + 1, updated_at = v_now
     WHERE e.id = ANY (ARRAY(
       SELECT x.id FROM pawl.outbox_exception x WHERE x.status = 3 AND x.id = ANY (p_ids) ORDER BY x.id FOR UPDATE)) AND e.status = 3 RETURNING e.id),
  m AS (
    SELECT e.id, m.lane, l.queue FROM e JOIN pawl.outbox_message m ON m.id = e.id JOIN pawl.outbox_lane l ON l.id = m.lane),
  r AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, v_now, m.id, 1 FROM m)
  SELECT array_agg(m.id ORDER BY m.id), array_agg(DISTINCT m.queue) INTO v_ids, v_queues FROM m;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_join_reopen(v_ids);
  PERFORM pawl.outbox_wake(v_queues);
  RETURN cardinality(v_ids);
END $f$;
