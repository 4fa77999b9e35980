-- Mark claimed runs of jobs as failed for good. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.job_run_fail(owner_token uuid, ids bigint[], error text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_fail(owner_token, ids, error);
END $f$;
