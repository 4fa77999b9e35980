-- Claim from a queue while there are limits: p_what is 'regular' or 'suspects', the other parameters are
-- those of outbox_claim_queue. From the lanes of limits as many are claimed as these allow: of half the
-- messages first, then those that wait for no limit (outbox_claim_open), then of what room is
-- left. Neither keeps the other from being claimed, unless its priority does. The lane whose oldest
-- message comes first goes first, also among queues that share a topic's limit: see outbox_limit_yield.
-- Suspects are those of one lane, and go by priority alone.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_within_limits(p_what text, p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz[], p_to timestamptz[], p_wait interval, p_apart text)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_now     timestamptz := clock_timestamp();
  v_late    timestamptz := coalesce(v_now - p_wait, '-infinity');
  v_room    integer; -- what the queue's limit leaves
  v_left    integer; -- of the part
  v_n       integer;
  v_lane    record;
  v_runs    pawl.outbox_held[];
  v_ids     bigint[]; -- of their messages
  v_part    text;
  v_held    boolean := false; -- limits of topics are locked
  v_top     integer; -- the first priority of what no topic's limit holds for
  v_yielded bigint[] := '{}'; -- lanes that left their places to other queues
BEGIN
  PERFORM pawl.check_isolation('claim');
  IF NOT pawl.outbox_limits_share() THEN
    RETURN;
  END IF;
  v_room := CASE WHEN NOT EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = 'queue' AND l.name = p_queue) THEN p_n WHEN pawl.full_limit('queue', p_queue) THEN 0 ELSE (pawl.outbox_limit_room('queue', ARRAY[p_queue], ARRAY[p_n], true))[1] END;
  SELECT coalesce(min(l.priority), 32767) INTO v_top FROM pawl.outbox_lane l
   WHERE l.queue = p_queue AND l.kind = 0 AND EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= v_now AND (r.suspect > 0) = (p_what = 'suspects'));
  FOREACH v_part IN ARRAY ARRAY['first', 'open', 'rest'] LOOP
    EXIT WHEN v_room <= 0;
    IF v_part = 'open' THEN
      RETURN QUERY SELECT * FROM pawl.outbox_claim_open(p_what, v_held, p_queue, p_owner, p_lease, v_room, p_rows, p_from, p_to, p_wait, p_apart);
      GET DIAGNOSTICS v_n = ROW_COUNT;
      EXIT WHEN v_n > 0 AND p_what = 'suspects';
      v_room := v_room - v_n;
      CONTINUE;
    END IF;
    v_left := CASE WHEN v_part = 'first' AND p_what = 'regular' THEN (v_room + (random() < 0.5)::integer) / 2 ELSE v_room END;
    FOR v_lane IN
      SELECT l.id, l.topic, l.priority, head.at FROM pawl.outbox_lane l
       CROSS JOIN LATERAL (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= v_now AND (r.suspect > 0) = (p_what = 'suspects') ORDER BY r.at LIMIT 1) head
       WHERE l.queue = p_queue AND l.kind = 3 AND (v_part = 'rest' OR l.priority <= v_top OR head.at < v_late)
         AND CASE WHEN head.at IS NOT NULL THEN NOT pawl.full_limit('topic', l.topic) ELSE false END -- lane by lane, not as joins of all limits
       ORDER BY head.at >= v_late, CASE WHEN head.at < v_late THEN 0 ELSE l.priority END, head.at LOOP
      EXIT WHEN v_left <= 0;
      IF p_what = 'regular' AND pawl.outbox_limit_yield(p_queue, v_lane.topic, v_lane.id, v_lane.priority, v_lane.at, p_wait, v_now) THEN
        v_yielded := v_yielded || v_lane.id;
        CONTINUE;
      END IF;
      v_n := (pawl.outbox_limit_room('topic', ARRAY[v_lane.topic], ARRAY[v_left], NOT v_held))[1]; -- who waits holds none, so that no two wait for each other
      CONTINUE WHEN v_n IS NULL;
      v_held := true;
      CONTINUE WHEN v_n <= 0;
      v_runs := pawl.outbox_claim_lanes(p_what, ARRAY[v_lane.id], p_owner, p_lease, v_n, v_n, NULL, NULL, NULL);
      v_ids := pawl.held_ids(v_runs);
      PERFORM pawl.outbox_limit_use('topic', ARRAY[(v_lane.topic, v_ids)::pawl.outbox_counted]), pawl.outbox_limit_use('queue', ARRAY[(p_queue, v_ids)::pawl.outbox_counted]);
      RETURN QUERY SELECT pawl.message(m), h.retry, h.priority, h.locked_until, '-infinity'::timestamptz, 0 FROM pawl.held_messages(v_runs) ORDER BY h.nr;
      GET DIAGNOSTICS v_n = ROW_COUNT;
      IF v_n > 0 AND p_what = 'suspects' THEN
        RETURN;
      END IF;
      v_room := v_room - v_n; v_left := v_left - v_n;
    END LOOP;
  END LOOP;
  IF p_what = 'regular' THEN
    PERFORM pawl.outbox_limit_ask(p_queue, v_room, v_yielded, v_now);
  END IF;
END $f$;
