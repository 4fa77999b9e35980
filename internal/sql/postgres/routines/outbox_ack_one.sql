-- Ack a message in a program's own transaction, with its result unless that is empty. Returns 1, or 0 if
-- p_owner does not hold it.
CREATE OR REPLACE FUNCTION pawl.outbox_ack_one(p_owner uuid, p_id bigint, p_by text, p_result bytea) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF length(p_result) > 0 THEN
    PERFORM pawl.outbox_join_results(ARRAY[p_owner], ARRAY[p_id], ARRAY[p_result]);
  END IF;
  RETURN pawl.outbox_ack_runs(ARRAY[p_owner], ARRAY[p_id], ARRAY[1], p_by);
END $f$;
