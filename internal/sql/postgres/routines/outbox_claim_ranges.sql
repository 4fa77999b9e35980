-- Claim up to p_n due messages of a queue, but for suspects: see outbox_claim_heads, outbox_claim_turns and the
-- macro claim_regular. While there are limits, or with a topic p_apart, which is
-- treated as one with a limit so that others are found behind it, outbox_claim_within_limits does it.
-- Without limits the last row has no message: at is when the claim began, null if it is full; length is how
-- many entries were counted (v_read).
CREATE OR REPLACE FUNCTION pawl.outbox_claim_ranges(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz[], p_to timestamptz[], p_wait interval, p_apart text)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  pawl.claim_variables()
  v_ordered boolean;
  v_limited boolean;
  v_heads   pawl.outbox_held[];
  v_turns   pawl.outbox_held[];
BEGIN
  SELECT bool_or(l.kind = 1), p_apart IS NOT NULL OR pawl.limited(l), array_agg(l.id) FILTER (WHERE l.kind = 0), array_agg(l.priority) FILTER (WHERE l.kind = 0)
    INTO v_ordered, v_limited, v_lanes, v_priorities FROM (SELECT x.id, x.kind, x.priority FROM pawl.outbox_lane x WHERE x.queue = p_queue ORDER BY x.kind, x.priority) l;
  IF v_limited THEN
    RETURN QUERY SELECT * FROM pawl.outbox_claim_within_limits('regular', p_queue, p_owner, p_lease, p_n, p_rows, p_from, p_to, p_wait, p_apart);
    RETURN;
  END IF;
  IF v_ordered THEN
    v_heads := pawl.outbox_claim_heads(p_queue, p_owner, p_lease, p_n, p_from, p_to);
    pawl.claimed_held(v_heads)
    v_turns := pawl.outbox_claim_turns(p_queue, p_owner, p_lease, v_need, p_from, p_to);
    pawl.claimed_held(v_turns)
    pawl.claim_from(x.queue = p_queue AND x.kind = 0) -- again: what is put in order makes the first of them
  END IF;
  IF v_need > 0 THEN
    pawl.claim_regular()
    RETURN QUERY pawl.held_rows(v_runs);
  END IF;
  IF v_need > 0 AND v_heads <> '{}' THEN -- others left room
    v_heads := pawl.outbox_claim_heads(p_queue, p_owner, p_lease, v_need, NULL, NULL);
    pawl.claimed_held(v_heads)
  END IF;
  IF v_need > 0 AND v_turns <> '{}' THEN
    v_turns := pawl.outbox_claim_turns(p_queue, p_owner, p_lease, v_need, NULL, NULL);
    pawl.claimed_held(v_turns)
  END IF;
  at := CASE WHEN v_need > 0 THEN v_now END; length := least(v_read, 2147483647);
  RETURN NEXT;
END $f$;
