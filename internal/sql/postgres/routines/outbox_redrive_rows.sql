-- Make those of these messages that failed ready again, with all attempts left, and subtract
-- their failures in joins that are still pending (D-38); flows go on. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_redrive_rows(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp(); -- one time for all: they come in order of their ids
  v_ids    bigint[];
  v_queues text[];
BEGIN
  PERFORM pawl.check_isolation('redrive');
  WITH e AS (
    UPDATE pawl.outbox_exception e SET status = 0, retry_count = 0, next_attempt_at = v_now, redrives = e.redrives + 1, updated_at = v_now
     WHERE e.id = ANY (ARRAY(
       SELECT x.id FROM (SELECT DISTINCT i FROM unnest(p_ids) i ORDER BY i) u, LATERAL (SELECT y.id FROM pawl.outbox_exception y WHERE y.id = u.i AND y.status = 3 FOR UPDATE) x)) RETURNING e.id),
  m AS MATERIALIZED (
    SELECT e.id, m.lane, m.queue FROM e, LATERAL (
      SELECT x.lane, l.queue FROM pawl.outbox_message x, pawl.outbox_lane l WHERE x.id = e.id AND l.id = x.lane OFFSET 0) m),
  r AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, v_now, m.id, 1 FROM m)
  SELECT array_agg(m.id ORDER BY m.id), array_agg(DISTINCT m.queue) INTO v_ids, v_queues FROM m;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_join_reopen(v_ids), pawl.flow_reopen(v_ids);
  PERFORM pawl.outbox_wake(v_queues);
  RETURN cardinality(v_ids);
END $f$;
