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
  v_need integer := p_n;
  v_n    integer;
  v_runs pawl.outbox_held[];
  v_not  record;
  v_gone bigint[];
  v_room integer;
  v_heads pawl.outbox_held[];
  v_turns pawl.outbox_held[];
BEGIN
  FOR v_step IN 1 .. 20 LOOP -- bounds how long a claim may take
    v_heads := '{}';
    v_turns := '{}';
    IF p_what = 'regular' AND EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1) THEN
      v_heads := pawl.outbox_claim_heads(p_queue, p_owner, p_lease, v_need, p_from, p_to);
      v_turns := pawl.outbox_claim_turns(p_queue, p_owner, p_lease, v_need - (SELECT coalesce(sum(u.n), 0)::integer FROM unnest(v_heads) u), p_from, p_to);
    END IF;
    v_runs := array_cat(v_heads, v_turns);
    v_room := v_need - (SELECT coalesce(sum(u.n), 0) FROM unnest(v_runs) u);
    IF v_room > 0 THEN
      v_runs := array_cat(v_runs, pawl.outbox_claim_lanes(p_what, ARRAY(SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 0), p_owner, p_lease, v_room, p_rows, p_from, p_to, p_wait));
    END IF;
    v_room := v_need - (SELECT coalesce(sum(u.n), 0) FROM unnest(v_runs) u);
    IF v_heads <> '{}' AND v_room > 0 THEN -- others left room
      v_runs := array_cat(v_runs, pawl.outbox_claim_heads(p_queue, p_owner, p_lease, v_room, NULL, NULL));
      v_room := v_need - (SELECT coalesce(sum(u.n), 0) FROM unnest(v_runs) u);
    END IF;
    IF v_turns <> '{}' AND v_room > 0 THEN
      v_runs := array_cat(v_runs, pawl.outbox_claim_turns(p_queue, p_owner, p_lease, v_room, NULL, NULL));
    END IF;
    v_not := pawl.outbox_limit_grant(p_what, p_queue, p_owner, v_runs, p_held, p_apart);
    v_gone := array_cat(v_not.away, v_not.back);
    IF EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = 'queue' AND l.name = p_queue) THEN
      PERFORM pawl.outbox_limit_use('queue', ARRAY[(p_queue, ARRAY(SELECT u.id FROM unnest(pawl.held_ids(v_runs)) u(id) WHERE v_gone IS NULL OR u.id <> ALL (v_gone)))::pawl.outbox_counted]);
    END IF;
    RETURN QUERY SELECT pawl.message(m), h.retry, h.priority, h.locked_until, h.at, h.length FROM pawl.held_messages(v_runs) WHERE v_gone IS NULL OR m.id <> ALL (v_gone) ORDER BY h.nr;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    v_need := v_need - v_n;
    EXIT WHEN v_not.back IS NOT NULL OR CASE p_what WHEN 'suspects' THEN v_n > 0 OR v_gone IS NULL ELSE v_need = 0 OR v_n + coalesce(cardinality(v_gone), 0) < v_need + v_n END;
  END LOOP;
END $f$;
