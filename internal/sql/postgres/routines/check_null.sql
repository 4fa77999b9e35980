-- What the check_… routines have in common: they refuse with the words of Go's
-- validation, so that a mistake reads the same whichever door it came through.
-- This one refuses a value that is missing.
CREATE OR REPLACE FUNCTION pawl.check_null(p_field text, p_missing boolean) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_missing THEN
    RAISE EXCEPTION 'invalid argument: %: null', p_field USING ERRCODE = 'null_value_not_allowed';
  END IF;
END $f$;
