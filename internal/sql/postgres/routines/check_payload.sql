-- Refuse a payload that is missing or too large. 1 MiB is the limit, as in Go,
-- unless the setting pawl_sql.max_payload says how many bytes instead.
CREATE OR REPLACE FUNCTION pawl.check_payload(p_payload text) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('payload', p_payload IS NULL);
  PERFORM pawl.check_bytes('payload', length(convert_to(p_payload, 'UTF8')), coalesce(nullif(current_setting('pawl_sql.max_payload', true), '')::bigint, 1048576));
END $f$;
