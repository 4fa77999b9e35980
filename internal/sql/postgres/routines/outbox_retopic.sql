-- Give messages that wait or have failed another topic and, unless it is null, another lane to be
-- enqueued to; that is none for messages with ordering keys. They keep their places, but for those that
-- wait for the end of a pause or for a limit of their topic: they go back to where they were enqueued. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_retopic(p_ids bigint[], p_topic text, p_lane bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_runs   pawl.outbox_run[];
  v_ids    bigint[];
  v_queues text[];
BEGIN
  PERFORM pawl.check_isolation('retopic');
  PERFORM FROM pawl.outbox_order o WHERE o.id = ANY (p_ids) ORDER BY o.id FOR UPDATE; -- before the runs, as outbox_order_release
  v_runs := ARRAY(SELECT w FROM pawl.outbox_withdraw(p_ids, false) w);
  v_ids := ARRAY(SELECT r.lo FROM unnest(v_runs) r) || ARRAY(SELECT e.id FROM pawl.outbox_exception e WHERE e.id = ANY (p_ids) AND e.status = 3 ORDER BY e.id FOR UPDATE);
  UPDATE pawl.outbox_message m SET topic = p_topic, lane = coalesce(p_lane, m.lane) WHERE m.id = ANY (v_ids);
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
  SELECT CASE WHEN p_lane IS NULL AND l.kind < 3 THEN r.lane ELSE m.lane END, r.at, r.lo, r.n, r.retry, r.suspect
    FROM unnest(v_runs) r JOIN pawl.outbox_message m ON m.id = r.lo LEFT JOIN pawl.outbox_lane l ON l.id = r.lane;
  v_queues := ARRAY(SELECT DISTINCT l.queue FROM pawl.outbox_message m JOIN pawl.outbox_lane l ON l.id = m.lane WHERE m.id = ANY (v_ids));
  PERFORM pawl.outbox_wake(v_queues);
  RETURN cardinality(v_ids);
END $f$;
