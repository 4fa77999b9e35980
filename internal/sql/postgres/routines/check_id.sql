-- Refuse an id that is missing or zero.
CREATE OR REPLACE FUNCTION pawl.check_id(p_field text, p_id uuid) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_id IS NULL THEN
    PERFORM pawl.check_null(p_field, true);
  ELSIF p_id = '00000000-0000-0000-0000-000000000000' THEN
    PERFORM pawl.check_refuse(p_field, 'zero');
  END IF;
END $f$;
