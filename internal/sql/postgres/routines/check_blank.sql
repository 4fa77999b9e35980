-- Whether a text is empty or white space alone, as Unicode has it.
CREATE OR REPLACE FUNCTION pawl.check_blank(p_value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  -- U+0009–000D, 0020, 0085, 00A0, 1680, 2000–200A, 2028, 2029, 202F, 205F, 3000
  RETURN btrim(p_value, convert_from('\x090a0b0c0d20c285c2a0e19a80e28080e28081e28082e28083e28084e28085e28086e28087e28088e28089e2808ae280a8e280a9e280afe2819fe38080', 'UTF8')) = '';
END $f$;
