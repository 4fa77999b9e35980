-- Change the due time of messages that are not claimed. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_reschedule(p_ids bigint[], p_at timestamptz) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_got    bigint;
  v_queues text[];
BEGIN
  WITH q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT w.lane, p_at, w.lo, w.n, w.retry, w.suspect FROM pawl.outbox_withdraw(p_ids, false) w RETURNING lane, lo),
  e AS (
    UPDATE pawl.outbox_exception e SET next_attempt_at = p_at, updated_at = clock_timestamp() FROM q WHERE e.id = q.lo AND e.status = 0)
  SELECT count(*), array_agg(DISTINCT l.queue) FILTER (WHERE l.queue IS NOT NULL) INTO v_got, v_queues FROM q LEFT JOIN pawl.outbox_lane l ON l.id = q.lane;
  PERFORM pawl.outbox_wake(coalesce(v_queues, '{}'));
  RETURN v_got;
END $f$;
