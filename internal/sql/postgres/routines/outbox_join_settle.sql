-- Count the outcomes of messages in their joins. Call it after they were moved, or while they
-- are locked, in a statement of its own: only a new snapshot shows a member that was attached
-- while the move waited for it. Members may have been counted before the locks were granted,
-- so they are read again.
--
-- The members of runs that are done as a whole are counted by one update, in joins that expect
-- at least as many steps more; the others one by one. On 20 joins of 1 000 steps this takes
-- 5 µs a member, of which the update's new row version takes 3.5; one by one it takes 38.
CREATE OR REPLACE FUNCTION pawl.outbox_join_settle(p_lo bigint[], p_n integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_joins   uuid[];
  v_members bigint[]; -- those of v_joins, at most: no other call can attach more meanwhile
  v_ample   uuid[];
  v_lo      bigint[];
  v_n       integer[];
  v_counted integer[];
BEGIN
  SELECT array_agg(s.join_id), array_agg(s.members) INTO v_joins, v_members
    FROM (SELECT m.join_id, count(*) AS members
            FROM unnest(p_lo, p_n) r(lo, n), LATERAL (SELECT x.join_id FROM pawl.outbox_join_member x WHERE x.id >= r.lo AND x.id < r.lo + r.n AND x.status = 0 OFFSET 0) m
           GROUP BY m.join_id) s;
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins) AND j.status = 0 ORDER BY j.join_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  v_ample := ARRAY(
    SELECT j.join_id FROM unnest(v_joins, v_members) s(id, members), LATERAL (
      SELECT x.join_id FROM pawl.outbox_join x WHERE x.join_id = s.id AND x.status = 0 AND x.expected_steps - x.completed_steps - x.failed_steps >= s.members OFFSET 0) j);
  SELECT array_agg(r.lo), array_agg(r.n) INTO v_lo, v_n
    FROM unnest(p_lo, p_n) r(lo, n), LATERAL (SELECT x.lo, x.n FROM pawl.outbox_done x WHERE x.lo <= r.lo ORDER BY x.lo DESC LIMIT 1) d
   WHERE d.lo + d.n >= r.lo + r.n;
  WITH counted AS (
    UPDATE pawl.outbox_join_member m SET status = 1 WHERE m.ctid = ANY (ARRAY( -- of joins that are locked: nobody else changes them
      SELECT x.tid FROM unnest(v_lo, v_n) r(lo, n), LATERAL (
        SELECT y.ctid AS tid, y.join_id FROM pawl.outbox_join_member y WHERE y.id >= r.lo AND y.id < r.lo + r.n AND y.status = 0 OFFSET 0) x
       WHERE (x.join_id IN (SELECT a.id FROM unnest(v_ample) a(id))) IS TRUE)) RETURNING m.join_id)
  SELECT array_agg(s.join_id), array_agg(s.n) INTO v_joins, v_counted FROM (SELECT c.join_id, count(*)::integer AS n FROM counted c GROUP BY c.join_id) s;
  IF v_joins IS NOT NULL THEN
    PERFORM pawl.outbox_join_add(v_joins, v_counted, array_fill(0, ARRAY[cardinality(v_joins)]));
  END IF;
  IF cardinality(v_ample) < cardinality(v_members) OR coalesce(cardinality(v_lo), 0) < cardinality(p_lo) THEN
    PERFORM pawl.outbox_join_settle_each(p_lo, p_n);
  END IF;
END $f$;
