-- Refuse a number of attempts that is missing or negative, and return it.
CREATE OR REPLACE FUNCTION pawl.check_attempts(p_max integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('max attempts', p_max IS NULL);
  IF p_max < 0 THEN
    PERFORM pawl.check_refuse('max attempts', 'negative');
  END IF;
  RETURN p_max;
END $f$;
