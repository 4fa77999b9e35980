-- Refuse a time that Go and other programs cannot represent. One before 1970 is null for the
-- caller, which means now.
CREATE OR REPLACE FUNCTION pawl.check_due(p_field text, p_due timestamptz) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF NOT isfinite(p_due) THEN
    PERFORM pawl.check_refuse(p_field, 'infinite');
  ELSIF p_due >= timestamptz '10000-01-01 00:00:00+00' THEN
    PERFORM pawl.check_refuse(p_field, 'after the year 9999');
  END IF;
  RETURN CASE WHEN p_due >= timestamptz '1970-01-01 00:00:00+00' THEN p_due END;
END $f$;
