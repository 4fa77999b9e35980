-- Move up to p_n due timers into the outbox, in one transaction with their end here (D-71), so
-- that after a crash each is in one place. They are claimable at once, whenever they were due,
-- and consecutive ones become one run. A supplied id that the outbox has adds no second
-- message. p_from and p_to: of what is due in this time only, see timers.go.
CREATE OR REPLACE FUNCTION pawl.timer_dispatch(p_n integer, p_from timestamptz DEFAULT '-infinity', p_to timestamptz DEFAULT 'infinity') RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp();
  v_to     timestamptz := least(v_now, p_to);
  v_got    bigint;
  v_queues text[];
BEGIN
  LOOP
    BEGIN
      WITH due AS MATERIALIZED (
        SELECT t.* FROM pawl.timer t WHERE t.status = 0 AND t.at >= p_from AND t.at <= v_to ORDER BY t.at, t.id LIMIT p_n FOR NO KEY UPDATE SKIP LOCKED),
      over AS (
        UPDATE pawl.timer t SET status = 2, processed_at = v_now, payload = '' WHERE t.id = ANY (ARRAY(SELECT due.id FROM due)) RETURNING 1),
      m AS (
        INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
        SELECT due.id, due.timer_id, due.supplied, due.lane, due.due_time, due.topic, due.correlation_id, due.headers, due.payload FROM due
         WHERE NOT (due.supplied AND EXISTS (SELECT FROM pawl.outbox_message x WHERE x.id = pawl.timer_carried(due.timer_id) AND x.message_id = due.timer_id))
        ON CONFLICT (message_id) WHERE supplied DO NOTHING RETURNING id, lane),
      r AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n)
        SELECT s.lane, v_now, min(s.id), count(*) FROM (SELECT m.lane, m.id, m.id - row_number() OVER (PARTITION BY m.lane ORDER BY m.id) AS island FROM m) s
         GROUP BY s.lane, s.island RETURNING lane)
      SELECT (SELECT count(*) FROM over), ARRAY(SELECT DISTINCT l.queue FROM r JOIN pawl.outbox_lane l ON l.id = r.lane) INTO v_got, v_queues;
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      IF pawl.timer_make_way(p_from, v_to, p_n) = 0 THEN
        RAISE;
      END IF;
    END;
  END LOOP;
  IF cardinality(v_queues) > 0 THEN
    PERFORM pawl.outbox_wake(v_queues);
  END IF;
  RETURN v_got;
END $f$;
