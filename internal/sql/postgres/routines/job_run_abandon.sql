-- Put claimed runs of jobs back for another attempt, after a delay (null: backoff),
-- and count this one as failed. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.job_run_abandon(owner_token uuid, ids bigint[], error text DEFAULT NULL, delay interval DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_abandon(owner_token, ids, error, delay);
END $f$;
