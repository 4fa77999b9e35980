-- Backoff after so many retries: 1, 2, 4, ... 60 s (D-14).
CREATE OR REPLACE FUNCTION pawl.outbox_backoff(p_retry integer) RETURNS interval LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN make_interval(secs => least(power(2, least(p_retry, 6)), 60));
END $f$;
