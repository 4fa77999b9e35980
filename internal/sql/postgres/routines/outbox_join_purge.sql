-- Delete joins that ended longer ago than p_age, among the 50 * p_look oldest of each outcome, with 10 000
-- steps and those of one more at most (see outbox_purge), unless a wait is still to be handled. That is tested after the joins are locked: a wait may
-- have been enqueued meanwhile (D-34).
CREATE OR REPLACE FUNCTION pawl.outbox_join_purge(p_age interval, p_look bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_before timestamptz := clock_timestamp() - p_age;
  v_joins  uuid[];
  v_got    bigint;
BEGIN
  PERFORM pawl.check_isolation('clean up');
  v_joins := ARRAY(
    SELECT j.join_id FROM pawl.outbox_join j WHERE j.join_id = ANY (ARRAY(
      SELECT z.join_id FROM (
        SELECT x.join_id, sum(x.expected_steps) OVER (ORDER BY x.join_id) - x.expected_steps AS before FROM unnest('{1,2,3}'::int[]) s(status),
          LATERAL (SELECT y.join_id, y.expected_steps, y.last_updated_utc FROM pawl.outbox_join y WHERE y.status = s.status ORDER BY y.join_id LIMIT 50 * p_look) x
         WHERE x.last_updated_utc < v_before) z
       WHERE z.before < 10000)) FOR UPDATE SKIP LOCKED);
  WITH gone AS (
    DELETE FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins)
       AND NOT EXISTS (SELECT FROM pawl.outbox_join_wait w JOIN pawl.outbox_item i ON i.id = w.id WHERE w.join_id = j.join_id AND i.status < 2)
    RETURNING j.join_id),
  members AS (
    DELETE FROM pawl.outbox_join_member m USING gone WHERE m.join_id = gone.join_id),
  results AS (
    DELETE FROM pawl.outbox_join_result r USING gone WHERE r.join_id = gone.join_id)
  SELECT count(*) INTO v_got FROM gone;
  RETURN v_got;
END $f$;
