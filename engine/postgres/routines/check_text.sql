-- Refuse a text that is longer than p_limit characters or, if it is required,
-- missing or blank. Go's engine.CheckText.
CREATE OR REPLACE FUNCTION pawl.check_text(p_field text, p_value text, p_limit integer, p_required boolean) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_required AND p_value IS NULL THEN
    PERFORM pawl.check_null(p_field, true);
  ELSIF p_required AND pawl.check_blank(p_value) THEN
    PERFORM pawl.check_refuse(p_field, 'empty or blank');
  ELSIF length(p_value) > p_limit THEN
    PERFORM pawl.check_refuse(p_field, 'more than ' || p_limit || ' characters');
  END IF;
END $f$;
