-- Claim from a queue's open lanes while there are limits: messages that no topic's limit holds for, or
-- has room for (outbox_limit_grant), which suspects wait for in their lanes. The others are met once:
-- they are moved to the lanes of their limits, so that those behind them come through. The parameters
-- are those of outbox_claim_within_limits; p_n is within the queue's limit, and p_held says whether
-- limits of topics are locked already.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_open(p_what text, p_held boolean, p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz[], p_to timestamptz[], p_wait interval, p_apart text)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_topics   text[] := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.pattern = '' UNION SELECT p_apart WHERE p_apart IS NOT NULL);
  v_patterns text[] := ARRAY(SELECT l.name FROM pawl.outbox_limit l WHERE l.kind = 'each'); -- of limits that hold for each of their topics
  v_need     integer := p_n;
  v_n        integer;
  v_c        record; -- what was claimed, as arrays
BEGIN
  FOR v_step IN 1 .. 20 LOOP -- bounds how long a claim may take
    IF p_what = 'regular' AND EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1) THEN
      PERFORM pawl.outbox_sequence(p_queue, v_need);
    END IF;
    SELECT array_agg(c.id) AS ids, array_agg(c.topic) AS topics, array_agg(c.retry) AS retries, array_agg(c.priority) AS priorities, array_agg(c.at) AS ats,
           array_agg(c.limited) AS away, max(c.locked_until) AS until, max(c.length) AS length, count(*) AS n
      INTO v_c
      FROM (SELECT r.id, r.topic, r.retry, r.priority, r.locked_until, r.at, r.length, r.topic = ANY (v_topics) OR EXISTS (SELECT FROM unnest(v_patterns) p WHERE pawl.falls_under(p, r.topic)) AS limited
              FROM pawl.outbox_claim_lanes(p_what, ARRAY(SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 0), p_owner, p_lease, v_need, p_rows, p_from, p_to, p_wait) r) c;
    IF p_what = 'regular' AND true = ANY (v_c.away) THEN
      v_c.away := pawl.outbox_limit_grant(p_queue, p_held, p_apart, v_c.topics, v_c.away, v_c.priorities, v_c.ids);
    END IF;
    IF true = ANY (v_c.away) THEN
      PERFORM pawl.outbox_divert(p_queue, p_owner, array_agg(u.id), array_agg(u.topic)) FROM unnest(v_c.ids, v_c.topics, v_c.away) u(id, topic, away) WHERE u.away;
    END IF;
    IF false = ANY (v_c.away) THEN
      PERFORM pawl.outbox_limit_use('queue', p_queue, array_agg(u.id)) FROM unnest(v_c.ids, v_c.away) u(id, away) WHERE NOT u.away;
    END IF;
    RETURN QUERY
    SELECT pawl.message(m), u.retry, u.priority, v_c.until, u.at, v_c.length
      FROM unnest(v_c.ids, v_c.away, v_c.retries, v_c.priorities, v_c.ats) WITH ORDINALITY u(id, away, retry, priority, at, nr)
      JOIN pawl.outbox_message m ON m.id = u.id WHERE NOT u.away ORDER BY u.nr;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    v_need := v_need - v_n;
    EXIT WHEN CASE p_what WHEN 'suspects' THEN v_n > 0 OR v_c.n = 0 ELSE v_need = 0 OR v_c.n < v_need + v_n END;
  END LOOP;
END $f$;
