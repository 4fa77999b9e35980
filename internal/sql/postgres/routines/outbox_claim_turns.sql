-- Claim messages of a queue that take turns (ordering.FairAt): one of each key that has some, from a key that is
-- chosen at random, then as many of each as are needed, the keys going first that have few. p_n at most; half of
-- them while other messages of the queue are due, in the ranges of claim_regular's p_from and p_to (null: all of
-- p_n). The messages are read by whoever knows which of them stay claimed. They are put back as others of the
-- queue are. The work is that of the keys that are met, p_n at most, however many messages one of them has.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_turns(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_from timestamptz[], p_to timestamptz[])
RETURNS pawl.outbox_held[] LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp();
  v_high   constant timestamptz := timestamptz 'epoch' - 4294967296 * interval '1 microsecond'; -- what takes turns is before
  v_low    constant timestamptz := timestamptz 'epoch' - 8589934592 * interval '1 microsecond';
  v_start  timestamptz := v_low + floor(random() * 4294967296) * interval '1 microsecond';
  v_lane   bigint := (SELECT l.id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1 AND l.priority = 0);
  v_ready  bigint;
  v_need   integer := p_n;
  v_each   integer := 1;
  v_keys   integer;
  v_some   integer;
  v_picked integer;
  v_gone   integer;
  v_got    integer;
  v_part   pawl.outbox_held[];
  v_runs   pawl.outbox_held[] := '{}';
BEGIN
  IF v_lane IS NULL OR NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at >= v_low AND r.at < v_high AND r.suspect = 0) THEN
    RETURN v_runs;
  END IF;
  IF p_from IS NOT NULL AND pawl.others_due() THEN
    v_need := (p_n + (random() < 0.5)::integer) / 2; -- of one by one every other
    IF v_need = 0 THEN
      RETURN v_runs;
    END IF;
  END IF;
  v_ready := pawl.outbox_lane_id(p_queue, 0::smallint);
  FOR v_round IN 1 .. 4 LOOP
    v_keys := 0;
    FOR v_lap IN 1 .. 2 LOOP -- to the end, then from the beginning
      WITH RECURSIVE turn AS (
        (SELECT r.at, 1 AS nr FROM pawl.outbox_ready r
          WHERE r.lane = v_lane AND r.at >= CASE v_lap WHEN 1 THEN v_start ELSE v_low END AND r.at < CASE v_lap WHEN 1 THEN v_high ELSE v_start END AND r.suspect = 0 ORDER BY r.at LIMIT 1)
        UNION ALL
        SELECT x.at, turn.nr + 1 FROM turn CROSS JOIN LATERAL (
          SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at > turn.at AND r.at < CASE v_lap WHEN 1 THEN v_high ELSE v_start END AND r.suspect = 0 ORDER BY r.at LIMIT 1) x
         WHERE turn.nr < v_need),
      look AS MATERIALIZED (
        SELECT turn.nr, x.tid, x.at, x.lo, x.n, x.retry FROM turn CROSS JOIN LATERAL (
          SELECT r.ctid AS tid, r.at, r.lo, r.n, r.retry FROM pawl.outbox_ready r WHERE r.lane = v_lane AND r.at = turn.at AND r.suspect = 0 ORDER BY r.lo LIMIT v_each FOR UPDATE SKIP LOCKED) x),
      each AS (
        SELECT look.*, least(look.n, v_each - (sum(look.n) OVER (PARTITION BY look.nr ORDER BY look.lo) - look.n))::integer AS m FROM look),
      cut AS MATERIALIZED (
        SELECT s.nr, s.tid, s.at, s.lo, s.n, s.retry, least(s.m, v_need - s.before)::integer AS m
          FROM (SELECT each.*, sum(each.m) OVER (ORDER BY each.nr, each.lo) - each.m AS before FROM each WHERE each.m > 0) s WHERE s.before < v_need),
      gone AS (
        DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT cut.tid FROM cut)) RETURNING 1),
      rest AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT v_lane, cut.at, cut.lo + cut.m, cut.n - cut.m, cut.retry FROM cut WHERE cut.m < cut.n),
      runs AS MATERIALIZED (
        SELECT min(s.nr) AS nr, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
          FROM (SELECT cut.nr, cut.lo, cut.m, cut.retry, cut.lo - (sum(cut.m) OVER (PARTITION BY cut.retry ORDER BY cut.lo) - cut.m) AS island FROM cut) s
         GROUP BY s.retry, s.island),
      held AS (
        INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT runs.lo, runs.n, v_ready, v_now, runs.retry, p_owner, v_now + p_lease FROM runs)
      SELECT coalesce(sum(runs.n), 0), array_agg((runs.lo, runs.n, runs.retry, 0, v_now + p_lease, '-infinity', 0)::pawl.outbox_held ORDER BY runs.nr, runs.lo),
             (SELECT count(*) FROM turn), (SELECT count(*) FROM cut), (SELECT count(*) FROM gone)
        INTO v_got, v_part, v_some, v_picked, v_gone FROM runs;
      IF v_gone <> v_picked THEN
        RAISE EXCEPTION 'a message that takes turns moved while it was locked' USING ERRCODE = 'serialization_failure';
      END IF;
      v_runs := array_cat(v_runs, v_part);
      v_need := v_need - v_got;
      v_keys := v_keys + v_some;
      EXIT WHEN v_need <= 0;
    END LOOP;
    EXIT WHEN v_need <= 0 OR v_keys = 0;
    v_each := CASE WHEN v_round = 3 THEN v_need ELSE (v_need + v_keys - 1) / v_keys END;
  END LOOP;
  RETURN v_runs;
END $f$;
