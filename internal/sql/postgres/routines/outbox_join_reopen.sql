CREATE OR REPLACE FUNCTION pawl.outbox_join_reopen(p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_joins uuid[];
BEGIN
  v_joins := ARRAY(SELECT DISTINCT m.join_id FROM unnest(p_ids) i, LATERAL (
    SELECT x.join_id FROM pawl.outbox_join_member x WHERE x.id = i AND x.status = 2 OFFSET 0) m);
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins) AND j.status = 0 ORDER BY j.join_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  WITH back AS (
    UPDATE pawl.outbox_join_member m SET status = 0
     WHERE m.ctid = ANY (ARRAY(
       SELECT x.tid FROM unnest(p_ids) i, LATERAL (SELECT y.ctid AS tid FROM pawl.outbox_join_member y WHERE y.id = i AND y.status = 2 FOR NO KEY UPDATE) x))
       AND (m.join_id IN (SELECT j.join_id FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins) AND j.status = 0)) IS TRUE RETURNING m.join_id)
  UPDATE pawl.outbox_join j SET failed_steps = j.failed_steps - s.n, last_updated_utc = clock_timestamp()
    FROM (SELECT back.join_id, count(*)::integer AS n FROM back GROUP BY back.join_id) s WHERE j.join_id = s.join_id;
END $f$;
