-- Refuse a duration for a lease of a name that is missing or shorter than Go
-- allows, and return it.
CREATE OR REPLACE FUNCTION pawl.check_duration(p_seconds integer) RETURNS interval LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('duration', p_seconds IS NULL);
  IF p_seconds < 1 THEN
    PERFORM pawl.check_refuse('duration', 'shorter than 1s');
  END IF;
  RETURN make_interval(secs => p_seconds);
END $f$;
