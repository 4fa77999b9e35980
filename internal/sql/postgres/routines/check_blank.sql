-- Whether a text is empty or white space alone, as Unicode has it. Its bytes are looked at: the
-- encoding of the database may lack some of these characters.
CREATE OR REPLACE FUNCTION pawl.check_blank(p_value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  -- U+0009-000D, 0020, 0085, 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000
  RETURN encode(convert_to(p_value, 'UTF8'), 'hex') ~ '^(09|0a|0b|0c|0d|20|c285|c2a0|e19a80|e280(8[0-9a]|a8|a9|af)|e2819f|e38080)*$';
END $f$;
