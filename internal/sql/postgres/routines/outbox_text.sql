-- Bytes as text if they are text, as \x... hex otherwise.
CREATE OR REPLACE FUNCTION pawl.outbox_text(p_payload bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN convert_from(p_payload, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN p_payload::text;
END $f$;
