-- Schedule timers; arrays of equal length, or null where none has the field; due null is now.
-- A pending timer of the same key is replaced: cancelled, or its key is removed if it is
-- claimed. A known id changes nothing, neither itself nor the timer that has its key by now;
-- of an id that is given twice the first counts.
CREATE OR REPLACE FUNCTION pawl.timer_schedule_rows(p_id bigint[], p_timer uuid[], p_topic text[], p_correlation text[], p_headers text[], p_payload bytea[], p_lane bigint[],
  p_due timestamptz[], p_supplied boolean[], p_position bigint[], p_key text[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_key   text;
  v_fresh bigint[];
  v_got   integer;
  v_now   timestamptz := clock_timestamp();
BEGIN
  FOR v_key IN SELECT DISTINCT k FROM unnest(p_key) k WHERE k IS NOT NULL ORDER BY k LOOP
    PERFORM pg_advisory_xact_lock(pawl.lock_key('pawl.timer/' || v_key));
  END LOOP;
  v_fresh := p_id;
  IF true = ANY (p_supplied) OR 0 <> ANY (p_position) THEN -- an id that was just made is new
    v_fresh := ARRAY(
      SELECT DISTINCT ON (u.timer) u.id FROM unnest(p_id, p_timer, p_position) WITH ORDINALITY u(id, timer, position, nr)
       WHERE NOT EXISTS (SELECT FROM pawl.timer x WHERE x.id = u.position AND x.timer_id = u.timer)
         AND NOT EXISTS (SELECT FROM pawl.timer x WHERE x.timer_id = u.timer AND x.supplied)
       ORDER BY u.timer, u.nr);
  END IF;
  -- A single timer is inserted first, and searched by its key only if that is taken: in a
  -- serializable transaction a search conflicts with concurrent inserts.
  FOR v_pass IN least(cardinality(p_id), 2)..2 LOOP
    IF v_pass = 2 AND p_key IS NOT NULL THEN
      UPDATE pawl.timer t SET status = CASE t.status WHEN 0 THEN 4 ELSE t.status END, processed_at = CASE t.status WHEN 0 THEN clock_timestamp() END,
             key = CASE t.status WHEN 0 THEN t.key END
       WHERE t.key IS NOT NULL AND t.status < 2 AND t.id = ANY (ARRAY(
         SELECT x.id FROM unnest(p_id, p_key) u(id, key),
           LATERAL (SELECT y.id FROM pawl.timer y WHERE y.key = u.key AND y.key IS NOT NULL AND y.status < 2 OFFSET 0) x
          WHERE (u.id IN (SELECT f.id FROM unnest(v_fresh) f(id))) IS TRUE));
    END IF;
    INSERT INTO pawl.timer (id, timer_id, supplied, key, due_time, at, lane, topic, correlation_id, headers, payload)
    SELECT u.id, u.timer, u.supplied, u.key, coalesce(u.due, v_now), coalesce(u.due, v_now), u.lane, u.topic, u.correlation, u.headers, u.payload
      FROM unnest(p_id, p_timer, p_supplied, p_key, p_due, p_lane, p_topic, p_correlation, p_headers, p_payload)
        u(id, timer, supplied, key, due, lane, topic, correlation, headers, payload)
     WHERE (u.id IN (SELECT f.id FROM unnest(v_fresh) f(id))) IS TRUE
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_got = ROW_COUNT;
    EXIT WHEN v_got = cardinality(v_fresh);
  END LOOP;
  IF v_got < cardinality(v_fresh) THEN -- stored by now, or the position is taken: then it gets another, and its id is indexed
    INSERT INTO pawl.timer (id, timer_id, supplied, key, due_time, at, lane, topic, correlation_id, headers, payload)
    SELECT nextval('pawl.outbox_single'), u.timer, true, u.key, coalesce(u.due, v_now), coalesce(u.due, v_now), u.lane, u.topic, u.correlation, u.headers, u.payload
      FROM unnest(p_id, p_timer, p_key, p_due, p_lane, p_topic, p_correlation, p_headers, p_payload, p_position)
        u(id, timer, key, due, lane, topic, correlation, headers, payload, position)
     WHERE (u.id IN (SELECT f.id FROM unnest(v_fresh) f(id))) IS TRUE
       AND NOT EXISTS (SELECT FROM pawl.timer x WHERE x.id IN (u.position, u.id) AND x.timer_id = u.timer)
       AND NOT EXISTS (SELECT FROM pawl.timer x WHERE x.timer_id = u.timer AND x.supplied)
    ON CONFLICT (timer_id) WHERE supplied DO NOTHING;
  END IF;
  PERFORM pawl.timer_wake(coalesce((SELECT min(coalesce(d, v_now)) FROM unnest(p_due) d), v_now));
END $f$;
