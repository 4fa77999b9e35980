-- The ordering key in a message's headers, or null: none, or headers that cannot be read.
CREATE OR REPLACE FUNCTION pawl.outbox_ordering_key(p_headers text) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN nullif(p_headers::jsonb ->> 'pawl-ordering-key', '');
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $f$;
