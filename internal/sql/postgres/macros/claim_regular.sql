-- claim_regular()
-- The claim of regular messages from v_lanes, whose priorities are v_priorities, in a routine: as many as are due, at
-- most v_need, which becomes how many are missing. Their runs are added to v_runs, by priority, time and id. A
-- destructive read of ready in key order, which skips locked rows. p_rows: how many ready rows will probably be
-- enough. p_from and p_to: the ranges of due times that are read, one after the other
-- while there is room for more; null: all of them. If the first has an end, lane by lane. A claim would
-- read all deleted entries of the index while an old snapshot is open: see tune.go. v_read counts the
-- entries of those ranges that have two ends, or none. p_wait: the lane whose oldest message has been
-- due for longer goes first; null: priority alone decides. The routine's settings pin the plan: statistics of a
-- queue's table are wrong most of the time. Where there are no neighbors to join and nothing to cut, nothing is
-- planned for it: a claim of one message took 165 us with that and a second read behind it, and takes 97.
IF p_wait IS NOT NULL THEN
  SELECT l.nr INTO v_late FROM unnest(v_lanes, v_priorities) WITH ORDINALITY l(id, priority, nr),
    LATERAL (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at < v_now - p_wait AND r.suspect = 0 ORDER BY r.at, r.lo LIMIT 1) head
   ORDER BY head.at, l.priority LIMIT 1;
END IF;
v_ranges := coalesce(cardinality(p_from), 1);
FOR v_turn IN CASE WHEN v_late IS NULL THEN 0 ELSE -1 END .. v_ranges * coalesce(cardinality(v_lanes), 0) - 1 LOOP
  IF v_turn < 0 THEN
    v_lane := v_late; v_range := 0;
  ELSIF p_to[1] IS NULL THEN
    v_lane := v_turn % cardinality(v_lanes) + 1; v_range := v_turn / cardinality(v_lanes) + 1;
  ELSE
    v_lane := v_turn / v_ranges + 1; v_range := v_turn % v_ranges + 1;
  END IF;
  v_low := coalesce(p_from[v_range], '-infinity');
  CONTINUE WHEN v_low > v_now;
  v_counts := p_to[v_range] IS NOT NULL OR v_low = '-infinity';
  v_read := v_read - CASE WHEN v_counts THEN pg_stat_get_xact_tuples_returned('pawl.outbox_ready_pkey'::regclass) ELSE 0 END;
  v_take := greatest(1, least(p_rows, v_need));
  LOOP
    SELECT array_agg(look.tid), array_agg(look.n), coalesce(sum(look.n), 0), count(*) INTO v_tids, v_sizes, v_got, v_rows
      FROM (SELECT r.ctid AS tid, r.n FROM pawl.outbox_ready r
             WHERE r.lane = v_lanes[v_lane] AND r.at >= v_low AND r.at <= least(p_to[v_range], v_now) AND r.suspect = 0
             ORDER BY r.at, r.lo LIMIT v_take FOR UPDATE SKIP LOCKED) look;
    EXIT WHEN v_rows = 0;
    IF v_got > v_need THEN
      SELECT v_tids[:count(*)], sum(u.n) INTO v_tids, v_got
        FROM (SELECT u.n, sum(u.n) OVER (ORDER BY u.nr) - u.n AS before FROM unnest(v_sizes) WITH ORDINALITY u(n, nr)) u WHERE u.before < v_need;
    END IF;
    WITH gone AS (DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (v_tids) RETURNING r.at, r.lo, r.n, r.retry)
    SELECT array_agg((gone.lo, gone.n, gone.retry, v_priorities[v_lane], v_now + p_lease, gone.at, gone.n)::pawl.outbox_held) INTO v_part FROM gone;
    IF cardinality(v_tids) > 1 OR v_got > v_need THEN
      WITH cut AS MATERIALIZED (
        SELECT u.at, u.lo, u.n, u.retry, least(u.n, v_need - (sum(u.n) OVER (ORDER BY u.at, u.lo) - u.n))::integer AS m FROM unnest(v_part) u),
      rest AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
        SELECT v_lanes[v_lane], cut.at, cut.lo + cut.m, cut.n - cut.m, cut.retry FROM cut WHERE cut.m < cut.n),
      runs AS (
        SELECT min(s.at) AS at, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
          FROM (SELECT cut.at, cut.lo, cut.m, cut.retry, cut.lo - (sum(cut.m) OVER (PARTITION BY cut.retry ORDER BY cut.lo) - cut.m) AS island FROM cut) s
         GROUP BY s.retry, s.island)
      SELECT array_agg((runs.lo, runs.n, runs.retry, v_priorities[v_lane], v_now + p_lease, runs.at, v_got / cardinality(v_tids))::pawl.outbox_held ORDER BY runs.at, runs.lo) INTO v_part FROM runs;
      v_got := least(v_got, v_need);
    END IF;
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
    SELECT u.lo, u.n, v_lanes[v_lane], u.at, u.retry, p_owner, u.locked_until FROM unnest(v_part) u;
    v_runs := array_cat(v_runs, v_part);
    v_need := v_need - v_got;
    EXIT WHEN v_need <= 0 OR v_rows < v_take;
    v_take := least(v_need, v_need::bigint * v_take / v_got + 1);
  END LOOP;
  v_read := v_read + CASE WHEN v_counts THEN pg_stat_get_xact_tuples_returned('pawl.outbox_ready_pkey'::regclass) ELSE 0 END;
  EXIT WHEN v_need <= 0;
END LOOP;
