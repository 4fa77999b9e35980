-- Put claimed runs of jobs back whose lease has expired, as all messages. Returns how many
-- messages those were.
CREATE OR REPLACE FUNCTION pawl.job_run_reap_expired() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_reap_expired();
END $f$;
