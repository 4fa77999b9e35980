-- Mark failed messages as discarded, by an entry of the audit trail. The next of an ordering key that one of them held may be
-- claimed. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_discard(p_ids bigint[], p_act uuid DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  WITH gone AS (
  UPDATE pawl.outbox_exception e SET status = 4, next_attempt_at = NULL, failed_at = e.updated_at, discard_id = p_act, updated_at = clock_timestamp()
   WHERE e.id = ANY (ARRAY(
     SELECT x.id FROM (SELECT DISTINCT i FROM unnest(p_ids) i ORDER BY i) u, LATERAL (SELECT y.id FROM pawl.outbox_exception y WHERE y.id = u.i AND y.status = 3 FOR UPDATE) x)) RETURNING e.id)
  SELECT array_agg(gone.id) INTO v_ids FROM gone;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_order_release(v_ids, array_fill(1, ARRAY[cardinality(v_ids)]));
  RETURN cardinality(v_ids);
END $f$;
