-- Claim from a queue while there are limits; the parameters are those of outbox_claim_runs.
-- p_suspects: claim suspects. Messages of topics with limits are moved to lanes of these limits
-- when they are met, so that each is met once and those behind them come through. From such lanes
-- as many are claimed as the limit allows: of half the messages first, then those that no topic's
-- limit holds for, then of what room is left. Neither keeps the other from being claimed, unless its
-- priority does; p_wait is as there. The lane whose oldest message comes first goes first, also
-- among queues that share a topic's limit: see outbox_limit_yield.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_limited(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz, p_wait interval, p_suspects boolean, p_apart text DEFAULT NULL)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_now    timestamptz := clock_timestamp();
  v_room   integer;
  v_part   integer;
  v_got    integer := 0;
  v_n      integer;
  v_lane   record;
  v_more   boolean;
  v_top    integer; -- the first priority of what no topic's limit holds for
  v_topics text[];
  v_patterns text[]; -- of limits that hold for each of their topics
  v_c      record; -- what was claimed, as arrays
  v_yielded bigint[] := '{}'; -- lanes that left their places to other queues
BEGIN
  PERFORM pawl.check_isolation('claim');
  IF NOT pawl.outbox_limits_share() THEN
    RETURN;
  END IF;
  v_room := CASE WHEN pawl.full_limit('queue', p_queue) THEN 0 ELSE pawl.outbox_limit_room('queue', p_queue, p_n) END;
  SELECT coalesce(min(l.priority), 32767) INTO v_top FROM pawl.outbox_lane l
   WHERE l.queue = p_queue AND l.kind = 0 AND EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= v_now AND (r.suspect > 0) = p_suspects);
  FOR v_pass IN 1 .. 3 LOOP
    EXIT WHEN v_room <= 0 OR p_suspects AND v_got > 0;
    IF v_pass <> 2 THEN
      v_part := CASE WHEN v_pass = 3 OR p_suspects THEN v_room ELSE (v_room + (random() < 0.5)::integer) / 2 END;
      FOR v_lane IN
        SELECT l.id, l.topic, l.priority, head.at FROM pawl.outbox_lane l
         CROSS JOIN LATERAL (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= v_now AND (r.suspect > 0) = p_suspects ORDER BY r.at LIMIT 1) head
         WHERE l.queue = p_queue AND l.kind = 3 AND (v_pass = 3 OR l.priority <= v_top OR head.at < v_now - p_wait)
           AND CASE WHEN head.at IS NOT NULL THEN NOT pawl.full_limit('topic', l.topic) ELSE false END -- lane by lane, not as joins of all limits
         ORDER BY head.at < v_now - p_wait DESC NULLS LAST, CASE WHEN head.at < v_now - p_wait THEN 0 ELSE l.priority END, head.at LOOP
        EXIT WHEN v_part <= 0 OR p_suspects AND v_got > 0;
        IF NOT p_suspects AND pawl.outbox_limit_yield(p_queue, v_lane.topic, v_lane.id, v_lane.priority, v_lane.at, p_wait, v_now) THEN
          v_yielded := v_yielded || v_lane.id;
          CONTINUE;
        END IF;
        v_n := pawl.outbox_limit_room('topic', v_lane.topic, v_part);
        CONTINUE WHEN v_n <= 0;
        RETURN QUERY
        WITH c AS MATERIALIZED (
          SELECT r.* FROM pawl.outbox_claim_runs(p_queue, p_owner, p_lease, v_n, v_n, '-infinity', NULL, v_lane.id) r WHERE NOT p_suspects
          UNION ALL SELECT r.* FROM pawl.outbox_claim_suspects(p_queue, p_owner, p_lease, v_n, v_lane.id) r WHERE p_suspects),
        used AS MATERIALIZED (
          SELECT pawl.outbox_limit_use('topic', v_lane.topic, array_agg(c.id)), pawl.outbox_limit_use('queue', p_queue, array_agg(c.id)) FROM c)
        SELECT pawl.message(c), c.retry, c.priority, c.locked_until, '-infinity'::timestamptz, 0 FROM used, c;
        GET DIAGNOSTICS v_n = ROW_COUNT;
        v_got := v_got + v_n; v_room := v_room - v_n; v_part := v_part - v_n;
      END LOOP;
      CONTINUE;
    END IF;
    v_topics := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.pattern = '' UNION SELECT p_apart WHERE p_apart IS NOT NULL);
    v_patterns := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'each');
    FOR v_step IN 1 .. 20 LOOP -- bounds how long a claim may take
      SELECT array_agg(c.id) AS ids, array_agg(c.retry) AS retries, array_agg(c.priority) AS priorities, array_agg(c.at) AS ats, array_agg(c.away) AS moved,
             max(c.locked_until) AS until, max(c.length) AS length, count(*) AS n, array_agg(c.id) FILTER (WHERE c.away) AS away,
             array_agg(c.topic) FILTER (WHERE c.away) AS away_topics, array_agg(c.id) FILTER (WHERE NOT c.away) AS kept
        INTO v_c
        FROM (SELECT r.id, r.topic, r.retry, r.priority, r.locked_until, r.at, r.length, r.topic = ANY (v_topics) OR EXISTS (SELECT FROM unnest(v_patterns) p WHERE pawl.falls_under(p, r.topic)) AS away
                FROM (SELECT r.* FROM pawl.outbox_claim_runs(p_queue, p_owner, p_lease, v_room, p_rows, p_from, p_wait, 0) r WHERE NOT p_suspects
                      UNION ALL SELECT r.* FROM pawl.outbox_claim_suspects(p_queue, p_owner, p_lease, v_room, 0) r WHERE p_suspects) r) c;
      IF v_c.away IS NOT NULL THEN
        PERFORM pawl.outbox_divert(p_queue, p_owner, v_c.away, v_c.away_topics);
      END IF;
      IF v_c.kept IS NOT NULL THEN
        PERFORM pawl.outbox_limit_use('queue', p_queue, v_c.kept);
      END IF;
      RETURN QUERY
      SELECT pawl.message(m), u.retry, u.priority, v_c.until, u.at, v_c.length
        FROM unnest(v_c.ids, v_c.moved, v_c.retries, v_c.priorities, v_c.ats) WITH ORDINALITY u(id, away, retry, priority, at, nr)
        JOIN pawl.outbox_message m ON m.id = u.id WHERE NOT u.away ORDER BY u.nr;
      GET DIAGNOSTICS v_n = ROW_COUNT;
      v_more := CASE WHEN p_suspects THEN v_n = 0 AND v_c.n > 0 ELSE v_c.n = v_room END;
      v_got := v_got + v_n; v_room := v_room - v_n;
      EXIT WHEN v_room = 0 OR NOT v_more;
    END LOOP;
  END LOOP;
  IF NOT p_suspects THEN
    PERFORM pawl.outbox_limit_ask(p_queue, v_room, v_yielded, v_now);
  END IF;
END $f$;
