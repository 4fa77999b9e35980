-- Refuse a text that is longer than p_limit characters or, if it is required, missing or
-- blank. Go's engine.CheckText. Text that begins with a printable ASCII character is not
-- blank: this test costs less than a call of a routine.
CREATE OR REPLACE FUNCTION pawl.check_text(p_field text, p_value text, p_limit integer, p_required boolean) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_required AND (p_value COLLATE "C" >= '!' AND p_value COLLATE "C" < E'\x7f') IS NOT TRUE THEN
    PERFORM pawl.check_null(p_field, p_value IS NULL);
    IF pawl.check_blank(p_value) THEN
      PERFORM pawl.check_refuse(p_field, 'empty or blank');
    END IF;
  END IF;
  IF length(p_value) > p_limit THEN
    PERFORM pawl.check_refuse(p_field, 'more than ' || p_limit || ' characters');
  END IF;
END $f$;
