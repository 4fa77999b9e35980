-- Mark claimed runs of jobs as succeeded. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.job_run_ack(owner_token uuid, ids bigint[], processed_by text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_ack(owner_token, ids, processed_by);
END $f$;
