-- Claim up to p_n due runs under a lease, for programs that run jobs themselves: a claim like
-- any other, of messages that are runs, suspects or others. One that is put back goes to the lane
-- of its message: the pause, whose lane it may have been in, may have ended.
CREATE OR REPLACE FUNCTION pawl.job_claim_runs(p_owner uuid, p_lease interval, p_n integer)
RETURNS TABLE (pawl.message_columns(),
               retry integer, queue text, priority smallint, locked_until timestamptz)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_ids   bigint[];
  v_until timestamptz;
  v_alone boolean;
BEGIN
  -- As in outbox_claim_queue_suspects, a run at a time.
  v_ids := ARRAY(
    SELECT s.id FROM (
      SELECT r.id, row_number() OVER w AS k, min(q.suspect) OVER w AS most
        FROM pawl.outbox_ready q JOIN pawl.job_run r ON r.id >= q.lo AND r.id < q.lo + q.n
       WHERE q.suspect > 0 AND q.at <= clock_timestamp() AND r.outcome IS NULL WINDOW w AS (ORDER BY r.id)) s
     WHERE s.k <= least(s.most, p_n) ORDER BY s.id);
  v_alone := cardinality(v_ids) > 0;
  IF NOT v_alone THEN
    v_ids := ARRAY(
    SELECT r.id FROM pawl.job_run r CROSS JOIN LATERAL (SELECT x.lo, x.n, x.at, x.suspect FROM pawl.outbox_ready x WHERE x.lo <= r.id ORDER BY x.lo DESC LIMIT 1) q
     WHERE r.outcome IS NULL AND q.lo + q.n > r.id AND q.at <= clock_timestamp() AND q.suspect = 0 ORDER BY r.id LIMIT p_n);
  END IF;
  v_until := clock_timestamp() + p_lease;
  WITH held AS (
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
    SELECT w.lo, 1, m.lane, w.at, w.retry, p_owner, v_until, CASE WHEN v_alone THEN count(*) OVER () ELSE 0 END
      FROM pawl.outbox_withdraw(v_ids, true) w JOIN pawl.outbox_message m ON m.id = w.lo RETURNING lo)
  SELECT array_agg(held.lo) INTO v_ids FROM held;
  UPDATE pawl.job_run r SET start_time = clock_timestamp() WHERE r.id = ANY (v_ids) AND r.start_time IS NULL;
  RETURN QUERY
  SELECT pawl.message(m), c.retry, l.queue, l.priority, c.locked_until
    FROM unnest(v_ids) i(id) CROSS JOIN LATERAL (SELECT x.* FROM pawl.outbox_claim x WHERE x.lo = i.id LIMIT 1) c
   CROSS JOIN LATERAL (SELECT x.* FROM pawl.outbox_message x WHERE x.id = i.id LIMIT 1) m
   CROSS JOIN LATERAL (SELECT x.queue, x.priority FROM pawl.outbox_lane x WHERE x.id = m.lane LIMIT 1) l ORDER BY m.id;
END $f$;
