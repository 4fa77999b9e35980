-- Claim messages with ordering keys of a queue that are due at once (ordering.At), if many are wanted: of each key of
-- which none is in line the first, from a key that is chosen at random, p_n at most. Each becomes the head of its key, and
-- is put back as others of the queue are. Half of p_n while others of the queue are due, in the ranges of claim_regular's
-- p_from and p_to; null: these left room, and nothing else is to be done. Else others are put in order
-- (outbox_sequence): what was due later, and, unless enough were found, what is behind the first of its key.
-- Claims of few leave it at that, and take the oldest of what is in order. A message may hide one of another key (two
-- of 100 000 share a group): therefore claims that find enough put some in order, too, now and then.
-- The work is that of the groups that are met: 128, and two for each that is claimed. Who holds the first message of
-- a group is not waited for. 10 000 keys of six messages cost 115 us of the server a message in all when claims put
-- what they met in order, all of a group at once, and 73 since.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_heads(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_from timestamptz[], p_to timestamptz[])
RETURNS pawl.outbox_held[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp();
  v_first  constant timestamptz := timestamptz 'epoch' - 4294967296 * interval '1 microsecond'; -- of the groups: what takes turns is before
  v_last   constant timestamptz := timestamptz 'epoch' - interval '1 microsecond';
  v_start  timestamptz := timestamptz 'epoch' - floor(1 + random() * 4294967296) * interval '1 microsecond';
  v_lows   timestamptz[] := ARRAY[v_start, v_first];
  v_highs  timestamptz[] := ARRAY[v_last, v_start - interval '1 microsecond'];
  v_lane   bigint := (SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1 AND l.priority = 0);
  v_ready  bigint;
  v_need   integer := p_n;
  v_got    integer;
  v_met    integer;
  v_picked integer;
  v_gone   integer;
  v_part   pawl.outbox_held[];
  v_runs   pawl.outbox_held[] := '{}';
  v_hidden boolean := false; -- groups were met from which nothing was claimed
BEGIN
  IF v_lane IS NULL OR NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at >= v_first AND r.at <= v_now) THEN
    RETURN v_runs;
  END IF;
  IF p_from IS NOT NULL AND p_n >= 100 AND (pawl.others_due() OR EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at < v_first)) THEN
    v_need := p_n / 2;
  END IF;
  IF p_from IS NOT NULL AND v_need < 100 THEN
    PERFORM pawl.outbox_sequence(p_queue, p_n);
    RETURN v_runs;
  END IF;
  v_ready := pawl.outbox_lane_id(p_queue, 0::smallint);
  FOR v_lap IN 1 .. 2 LOOP -- to the end, then from the beginning
    BEGIN
      WITH RECURSIVE turn AS (
        SELECT v_lows[v_lap] - interval '1 microsecond' AS at, NULL::tid AS tid, 0::bigint AS lo, 0 AS n, 0 AS retry, NULL::timestamptz AS created_at, NULL::text AS key, false AS free, 0 AS met, 0 AS found
        UNION ALL
        SELECT x.at, x.tid, x.lo, x.n, x.retry, m.created_at, k.key, f.free, turn.met + 1, turn.found + f.free::integer
          FROM turn
         CROSS JOIN LATERAL (SELECT r.at, r.ctid AS tid, r.lo, r.n, r.retry, r.suspect FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at > turn.at AND r.at <= v_highs[v_lap] ORDER BY r.at, r.lo LIMIT 1) x
          LEFT JOIN LATERAL (SELECT y.created_at, y.headers FROM pawl.outbox_message y WHERE y.id = x.lo LIMIT 1) m ON true
         CROSS JOIN LATERAL (SELECT pawl.outbox_ordering_key(m.headers) AS key OFFSET 0) k
         CROSS JOIN LATERAL (SELECT k.key IS NOT NULL AND x.suspect = 0 AND NOT EXISTS (SELECT FROM pawl.outbox_order o WHERE o.lane = v_lane AND o.key = k.key LIMIT 1) AS free OFFSET 0) f
         WHERE turn.found < v_need AND turn.met < 128 + 2 * turn.found),
      held AS MATERIALIZED (
        SELECT h.tid, turn.at, turn.lo, turn.n, turn.retry, turn.created_at, turn.key FROM turn
         CROSS JOIN LATERAL (SELECT r.ctid AS tid FROM pawl.outbox_ready r WHERE r.ctid = turn.tid AND r.lane = v_lane FOR UPDATE SKIP LOCKED) h WHERE turn.free),
      known AS (
        INSERT INTO pawl.outbox_order (id, lane, key, head) SELECT held.lo, v_lane, held.key, true FROM held ORDER BY held.key COLLATE "C"),
      gone AS (
        DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT held.tid FROM held)) RETURNING 1),
      rest AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT v_lane, held.at, held.lo + 1, held.n - 1, held.retry FROM held WHERE held.n > 1),
      runs AS MATERIALIZED (
        SELECT min(s.created_at) AS at, min(s.lo) AS lo, count(*)::integer AS n, s.retry
          FROM (SELECT held.created_at, held.lo, held.retry, held.lo - row_number() OVER (PARTITION BY held.retry ORDER BY held.lo) AS island FROM held) s
         GROUP BY s.retry, s.island),
      claim AS (
        INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT runs.lo, runs.n, v_ready, runs.at, runs.retry, p_owner, v_now + p_lease FROM runs)
      SELECT coalesce(sum(runs.n), 0), coalesce(array_agg((runs.lo, runs.n, runs.retry, 0, v_now + p_lease, '-infinity', 0)::pawl.outbox_held), '{}'),
             (SELECT max(turn.met) FROM turn), (SELECT count(*) FROM held), (SELECT count(*) FROM gone)
        INTO v_got, v_part, v_met, v_picked, v_gone FROM runs;
    EXCEPTION WHEN unique_violation THEN -- what this snapshot does not show is the head of a key
      EXIT;
    END;
    IF v_gone <> v_picked THEN
      RAISE EXCEPTION 'a message with an ordering key moved while it was locked' USING ERRCODE = 'serialization_failure';
    END IF;
    v_runs := array_cat(v_runs, v_part);
    v_need := v_need - v_got;
    v_hidden := v_hidden OR v_met > v_got;
    EXIT WHEN v_need = 0 OR v_met >= 128 + 2 * v_got;
  END LOOP;
  IF p_from IS NOT NULL AND (v_need > 0 OR v_hidden AND random() < 0.03 OR EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at >= 'epoch' AND r.at <= v_now)) THEN
    PERFORM pawl.outbox_sequence(p_queue, p_n);
  END IF;
  RETURN ARRAY(SELECT u FROM unnest(v_runs) u ORDER BY u.lo);
END $f$;
