-- Refuse a value that is missing. All check_* routines refuse with the words of Go's
-- validation, so that an error reads the same in SQL and in Go.
CREATE OR REPLACE FUNCTION pawl.check_null(p_field text, p_missing boolean) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_missing THEN
    RAISE EXCEPTION 'invalid argument: %: null', p_field USING ERRCODE = 'null_value_not_allowed';
  END IF;
END $f$;
