-- Refuse headers that Go could not have written, and return them as they are stored: null for
-- none. Numbers and booleans are accepted: Go reads them as text. Short and flat ones, whose
-- names and values begin with printable characters, need no further check unless they expire.
CREATE OR REPLACE FUNCTION pawl.check_headers(p_headers jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_text   text := p_headers::text;
  v_header record;
  v_bytes  bigint := 0;
BEGIN
  IF v_text IS NULL OR length(v_text) <= 255 AND v_text ~ '^\{[^][{]+\}$' AND v_text !~ 'null|"[^!-~]|""|"pawl-expires"' THEN
    RETURN v_text;
  END IF;
  IF jsonb_typeof(p_headers) <> 'object' THEN
    PERFORM pawl.check_refuse('headers', 'not an object');
  END IF;
  FOR v_header IN SELECT h.key, h.value, p_headers ->> h.key AS text FROM jsonb_each(p_headers) h LOOP
    PERFORM pawl.check_text('header name', v_header.key, 255, true);
    IF jsonb_typeof(v_header.value) NOT IN ('string', 'number', 'boolean') THEN
      PERFORM pawl.check_refuse('header value', 'not a text');
    END IF;
    v_bytes := v_bytes + octet_length(v_header.key) + octet_length(v_header.text);
  END LOOP;
  IF p_headers ? 'pawl-expires' AND pawl.outbox_expiry(v_text) IS NULL THEN
    PERFORM pawl.check_refuse('header pawl-expires', 'no time as RFC 3339 has it');
  END IF;
  PERFORM pawl.check_bytes('headers', v_bytes, 16384);
  RETURN nullif(v_text, '{}');
END $f$;
