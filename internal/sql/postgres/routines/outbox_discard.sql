-- Mark failed messages as discarded. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_discard(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.outbox_exception e SET status = 4, next_attempt_at = NULL, updated_at = clock_timestamp()
   WHERE e.id = ANY (ARRAY(SELECT x.id FROM pawl.outbox_exception x WHERE x.id = ANY (p_ids) AND x.status = 3 ORDER BY x.id FOR UPDATE)) AND e.status = 3;
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;
