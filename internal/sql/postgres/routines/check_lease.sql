-- Refuse a lease that is missing or shorter than Go allows.
CREATE OR REPLACE FUNCTION pawl.check_lease(p_seconds integer) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_seconds IS NULL THEN
    PERFORM pawl.check_null('lease', true);
  ELSIF p_seconds < 1 THEN
    PERFORM pawl.check_refuse('lease', 'shorter than a millisecond');
  END IF;
END $f$;
