-- Refuse a field for a reason. Neither contains the value.
CREATE OR REPLACE FUNCTION pawl.check_refuse(p_field text, p_reason text) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RAISE EXCEPTION 'invalid argument: %: %', p_field, p_reason USING ERRCODE = 'invalid_parameter_value';
END $f$;
