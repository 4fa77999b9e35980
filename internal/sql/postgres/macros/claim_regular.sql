-- claim_regular(lanes, begin, end)
-- The claim of regular messages from {lanes} (id, priority), in a routine: as many as are due, at most
-- p_n; {begin} and {end} are what becomes of them. A destructive read of ready in key order, which skips
-- locked rows. p_rows: how many ready rows will probably be enough. p_from and p_to: the ranges of due times that are read, one after the other
-- while there is room for more; null: all of them. If the first has an end, lane by lane. A claim would
-- read all deleted entries of the index while an old snapshot is open: see tune.go. v_read counts the
-- entries of those ranges that have two ends, or none. p_wait: the lane whose oldest message has been
-- due for longer goes first; null: priority alone decides. The result is in order of priority, time
-- and id; runs are sorted, not their messages, whose index has them in order: sorting 500 of 200 bytes
-- took a sixth of the routine's time. The routine's settings pin the plan: statistics of a queue's table
-- are wrong most of the time.
IF p_wait IS NOT NULL THEN
  SELECT l.id INTO v_late FROM {lanes} l,
    LATERAL (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at < v_now - p_wait AND r.suspect = 0 ORDER BY r.at, r.lo LIMIT 1) head
   ORDER BY head.at, l.priority LIMIT 1;
END IF;
FOR v_lane IN
  SELECT l.id, l.priority, part.low, least(part.high, v_now) AS high, part.high IS NOT NULL OR part.low = '-infinity' AS counts
    FROM (SELECT 0 AS nr, timestamptz '-infinity' AS low, v_now AS high
          UNION ALL SELECT u.nr, u.low, u.high FROM unnest(coalesce(p_from, '{-infinity}'), p_to) WITH ORDINALITY u(low, high, nr)) part, {lanes} l
   WHERE part.low <= v_now AND (part.nr > 0 OR l.id = v_late) ORDER BY part.nr > 0, CASE WHEN p_to[1] IS NULL THEN part.nr END, l.priority, part.nr LOOP
  v_read := v_read - CASE WHEN v_lane.counts THEN pg_stat_get_xact_tuples_returned('pawl.outbox_ready_pkey'::regclass) ELSE 0 END;
  v_take := greatest(1, least(p_rows, v_need));
  LOOP
    {begin} WITH look AS MATERIALIZED (
      SELECT r.ctid AS tid, r.at, r.lo, r.n FROM pawl.outbox_ready r
       WHERE r.lane = v_lane.id AND r.at >= v_lane.low AND r.at <= v_lane.high AND r.suspect = 0
       ORDER BY r.at, r.lo LIMIT v_take FOR UPDATE SKIP LOCKED),
    pick AS MATERIALIZED (
      SELECT look.tid, sum(look.n) OVER (ORDER BY look.at, look.lo) - look.n AS before FROM look),
    gone AS (
      DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT pick.tid FROM pick WHERE pick.before < v_need))
      RETURNING r.at, r.lo, r.n, r.retry),
    cut AS MATERIALIZED (
      SELECT gone.at, gone.lo, gone.n, gone.retry,
             least(gone.n, v_need - (sum(gone.n) OVER (ORDER BY gone.at, gone.lo) - gone.n))::integer AS m FROM gone),
    rest AS (
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
      SELECT v_lane.id, cut.at, cut.lo + cut.m, cut.n - cut.m, cut.retry FROM cut WHERE cut.m < cut.n),
    runs AS MATERIALIZED (
      SELECT min(s.at) AS at, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
        FROM (SELECT cut.at, cut.lo, cut.m, cut.retry, cut.lo - (sum(cut.m) OVER (PARTITION BY cut.retry ORDER BY cut.lo) - cut.m) AS island FROM cut) s
       GROUP BY s.retry, s.island),
    used AS MATERIALIZED (SELECT avg(gone.n)::integer AS length FROM gone),
    held AS (
      INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
      SELECT runs.lo, runs.n, v_lane.id, runs.at, runs.retry, p_owner, v_now + p_lease FROM runs)
    {end}
    v_need := v_need - v_got;
    EXIT WHEN v_got = 0 OR v_need <= 0;
    v_take := least(v_need, v_need::bigint * v_take / v_got + 1);
  END LOOP;
  v_read := v_read + CASE WHEN v_lane.counts THEN pg_stat_get_xact_tuples_returned('pawl.outbox_ready_pkey'::regclass) ELSE 0 END;
  EXIT WHEN v_need <= 0;
END LOOP;
