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
    SELECT m.join_id, m.outbox_message_id, CASE WHEN d.lo IS NOT NULL THEN 1 ELSE 2 END AS status,
           row_number() OVER (PARTITION BY m.join_id ORDER BY m.id) AS nth
      FROM (SELECT DISTINCT x.join_id, x.outbox_message_id, x.id FROM unnest(p_lo, p_n) r(lo, n)
             CROSS JOIN LATERAL (SELECT y.* FROM pawl.outbox_join_member y WHERE y.id >= r.lo AND y.id < r.lo + r.n AND y.status = 0 OFFSET 0) x) m
      LEFT JOIN pawl.outbox_done d ON d.lo = (SELECT max(x.lo) FROM pawl.outbox_done x WHERE x.lo <= m.id) AND d.lo + d.n > m.id
      LEFT JOIN pawl.outbox_exception e ON e.id = m.id AND e.status >= 3
     WHERE d.lo IS NOT NULL OR e.id IS NOT NULL),
  counted AS (
    UPDATE pawl.outbox_join_member m SET status = step.status
      FROM step JOIN pawl.outbox_join j ON j.join_id = step.join_id AND j.status = 0
     WHERE m.join_id = step.join_id AND m.outbox_message_id = step.outbox_message_id
       AND step.nth <= j.expected_steps - j.completed_steps - j.failed_steps
    RETURNING m.join_id, m.status)
  SELECT array_agg(s.join_id), array_agg(s.completed), array_agg(s.failed) INTO v_joins, v_completed, v_failed
    FROM (SELECT c.join_id, count(*) FILTER (WHERE c.status = 1)::integer AS completed, count(*) FILTER (WHERE c.status = 2)::integer AS failed
            FROM counted c GROUP BY c.join_id) s;
  IF v_joins IS NOT NULL THEN
    PERFORM pawl.outbox_join_add(v_joins, v_completed, v_failed);
  END IF;
END $f$;
