-- Make those of these messages failed again that were discarded once they had failed. A run of a job
-- whose outcome was recorded meanwhile is followed again. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_undiscard(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  WITH back AS (
  UPDATE pawl.outbox_exception e SET status = 3, updated_at = e.failed_at, failed_at = NULL, discard_id = NULL
   WHERE e.id = ANY (ARRAY(
     SELECT x.id FROM (SELECT DISTINCT i FROM unnest(p_ids) i ORDER BY i) u,
       LATERAL (SELECT y.id FROM pawl.outbox_exception y WHERE y.id = u.i AND y.status = 4 AND y.failed_at IS NOT NULL FOR UPDATE) x)) RETURNING e.id)
  SELECT array_agg(back.id ORDER BY back.id) INTO v_ids FROM back;
  UPDATE pawl.job_run r SET outcome = NULL, end_time = NULL WHERE r.id = ANY (v_ids) AND r.outcome = 4;
  RETURN coalesce(cardinality(v_ids), 0);
END $f$;
