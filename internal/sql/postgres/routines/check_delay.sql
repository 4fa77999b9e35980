-- Refuse a delay that is negative, or longer than Go can represent. Null is the caller's
-- default.
CREATE OR REPLACE FUNCTION pawl.check_delay(p_delay interval) RETURNS interval LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_delay < interval '0' THEN
    PERFORM pawl.check_refuse('delay', 'negative');
  ELSIF p_delay > interval '290 years' THEN
    PERFORM pawl.check_refuse('delay', 'more than 290 years');
  END IF;
  RETURN p_delay;
END $f$;
