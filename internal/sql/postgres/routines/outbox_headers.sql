-- Headers as JSON, null where another program wrote anything else.
CREATE OR REPLACE FUNCTION pawl.outbox_headers(p_headers text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN p_headers::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $f$;
