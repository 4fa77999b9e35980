-- Claim up to p_n messages of these lanes, without regard to limits: p_what is 'regular', see the macro
-- claim_regular, or 'suspects': those of one of the lanes, oldest first, which have no use for the parameters behind
-- p_n. The messages are read by whoever knows which of them stay claimed.
-- A run whose lease expired is a suspect: one of its messages may have ended the worker's process. The column
-- suspect of outbox_ready is how many messages may be claimed together with it, all of them suspects:
-- 1000 at first, and half as many as there were each time such a claim expires too; in outbox_claim it
-- is how many there were. So a message that ends its worker is found in log2(n) claims, and one that was
-- only claimed with it loses no attempt.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_lanes(p_what text, p_lanes bigint[], p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz[], p_to timestamptz[], p_wait interval)
RETURNS pawl.outbox_held[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  pawl.claim_variables()
  v_suspect record;
BEGIN
  IF p_what = 'regular' THEN
    pawl.claim_from(x.id = ANY (p_lanes))
    pawl.claim_regular()
  ELSE
    FOR v_suspect IN SELECT l.id, l.priority FROM pawl.outbox_lane l WHERE l.id = ANY (p_lanes) ORDER BY l.priority LOOP
      WITH look AS MATERIALIZED (
        SELECT r.ctid AS tid, r.at, r.lo, r.n, r.suspect FROM pawl.outbox_ready r
         WHERE r.lane = v_suspect.id AND r.suspect > 0 AND r.at <= v_now ORDER BY r.at, r.lo LIMIT p_n FOR UPDATE SKIP LOCKED),
      fit AS MATERIALIZED (
        SELECT look.*, sum(look.n) OVER w - look.n AS before, least(p_n, min(look.suspect) OVER w) AS most FROM look WINDOW w AS (ORDER BY look.at, look.lo)),
      cut AS MATERIALIZED (
        SELECT fit.*, least(fit.n, fit.most - fit.before)::integer AS m FROM fit WHERE fit.before < fit.most),
      gone AS (
        DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT cut.tid FROM cut)) RETURNING r.lo, r.retry),
      part AS MATERIALIZED (
        SELECT cut.at, cut.lo, cut.n, cut.m, cut.suspect, gone.retry FROM cut, gone WHERE gone.lo = cut.lo),
      rest AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
        SELECT v_suspect.id, part.at, part.lo + part.m, part.n - part.m, part.retry, part.suspect FROM part WHERE part.m < part.n),
      runs AS MATERIALIZED (
        SELECT min(s.at) AS at, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
          FROM (SELECT part.at, part.lo, part.m, part.retry, part.lo - (sum(part.m) OVER (PARTITION BY part.retry ORDER BY part.lo) - part.m) AS island FROM part) s
         GROUP BY s.retry, s.island),
      held AS (
        INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
        SELECT runs.lo, runs.n, v_suspect.id, runs.at, runs.retry, p_owner, v_now + p_lease, (SELECT sum(part.m) FROM part) FROM runs)
      SELECT array_agg((runs.lo, runs.n, runs.retry, v_suspect.priority, v_now + p_lease, runs.at, 0)::pawl.outbox_held ORDER BY runs.at, runs.lo) INTO v_runs FROM runs;
      EXIT WHEN v_runs IS NOT NULL;
    END LOOP;
  END IF;
  RETURN coalesce(v_runs, '{}');
END $f$;
