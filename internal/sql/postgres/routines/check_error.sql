-- The text of an error as it is stored: at most 2048 bytes, cut between characters; null for
-- none (D-7).
CREATE OR REPLACE FUNCTION pawl.check_error(p_error text) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_text text := left(p_error, 2048);
BEGIN
  WHILE octet_length(v_text) > 2048 LOOP -- a character has four bytes at most, so this never cuts too much
    v_text := left(v_text, length(v_text) - (octet_length(v_text) - 2048 + 3) / 4);
  END LOOP;
  RETURN nullif(v_text, '');
END $f$;
