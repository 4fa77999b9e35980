-- Refuse what has more than p_limit bytes. Null has none.
CREATE OR REPLACE FUNCTION pawl.check_bytes(p_field text, p_bytes bigint, p_limit bigint) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_bytes > p_limit THEN
    PERFORM pawl.check_refuse(p_field, 'more than ' || p_limit || ' bytes');
  END IF;
END $f$;
