-- Put claimed messages back whose lease has expired, those of the inbox among all others.
-- Returns how many messages those were.
CREATE OR REPLACE FUNCTION pawl.inbox_reap_expired() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_reap_expired();
END $f$;
