-- The part of outbox_join_settle that counts members one by one, as many as their joins expect.
-- The joins are locked. The outcome is read from the place of the message, so that runs which
-- overlap, or were not moved, count each message once.
CREATE OR REPLACE FUNCTION pawl.outbox_join_settle_each(p_lo bigint[], p_n integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_joins     uuid[];
  v_completed integer[];
  v_failed    integer[];
BEGIN
  WITH step AS MATERIALIZED (
    SELECT m.tid, m.join_id, CASE WHEN d.lo IS NOT NULL THEN 1 ELSE 2 END AS status,
           row_number() OVER (PARTITION BY m.join_id ORDER BY m.id) AS nth
      FROM (SELECT DISTINCT x.tid, x.join_id, x.id FROM unnest(p_lo, p_n) r(lo, n)
             CROSS JOIN LATERAL (SELECT y.ctid AS tid, y.join_id, y.id FROM pawl.outbox_join_member y WHERE y.id >= r.lo AND y.id < r.lo + r.n AND y.status = 0 OFFSET 0) x) m
      LEFT JOIN LATERAL (SELECT x.lo, x.n FROM pawl.outbox_done x WHERE x.lo <= m.id ORDER BY x.lo DESC LIMIT 1) d ON d.lo + d.n > m.id
      LEFT JOIN LATERAL (SELECT x.id FROM pawl.outbox_exception x WHERE x.id = m.id AND x.status >= 3 LIMIT 1) e ON true
     WHERE d.lo IS NOT NULL OR e.id IS NOT NULL),
  fit AS MATERIALIZED (
    SELECT step.tid, step.status FROM step, LATERAL (
      SELECT FROM pawl.outbox_join x WHERE x.join_id = step.join_id AND x.status = 0 AND step.nth <= x.expected_steps - x.completed_steps - x.failed_steps LIMIT 1) j),
  done AS (
    UPDATE pawl.outbox_join_member m SET status = 1 WHERE m.ctid = ANY (ARRAY(SELECT fit.tid FROM fit WHERE fit.status = 1)) RETURNING m.join_id, m.status),
  failed AS (
    UPDATE pawl.outbox_join_member m SET status = 2 WHERE m.ctid = ANY (ARRAY(SELECT fit.tid FROM fit WHERE fit.status = 2)) RETURNING m.join_id, m.status),
  counted AS (
    SELECT * FROM done UNION ALL SELECT * FROM failed)
  SELECT array_agg(s.join_id), array_agg(s.completed), array_agg(s.failed) INTO v_joins, v_completed, v_failed
    FROM (SELECT c.join_id, count(*) FILTER (WHERE c.status = 1)::integer AS completed, count(*) FILTER (WHERE c.status = 2)::integer AS failed
            FROM counted c GROUP BY c.join_id) s;
  IF v_joins IS NOT NULL THEN
    PERFORM pawl.outbox_join_add(v_joins, v_completed, v_failed);
  END IF;
END $f$;
