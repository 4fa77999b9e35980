-- Refuse a payload that is missing or too large, and return its bytes. 1 MiB is
-- the limit, as in Go, unless the setting pawl_sql.max_payload says how many bytes
-- instead.
CREATE OR REPLACE FUNCTION pawl.check_payload(p_payload text) RETURNS bytea LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_payload bytea := convert_to(p_payload, 'UTF8');
BEGIN
  PERFORM pawl.check_null('payload', p_payload IS NULL);
  IF length(v_payload) > 1048576 OR current_setting('pawl_sql.max_payload', true) <> '' THEN
    PERFORM pawl.check_bytes('payload', length(v_payload), coalesce(nullif(current_setting('pawl_sql.max_payload', true), '')::bigint, 1048576));
  END IF;
  RETURN v_payload;
END $f$;
