-- When a message with these headers expires; null for never, and for what is no time as RFC 3339
-- has it.
CREATE OR REPLACE FUNCTION pawl.outbox_expiry(p_headers text) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_time text := substring(p_headers FROM '"pawl-expires"\s*:\s*"([^"]*)"');
BEGIN
  IF v_time ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$' THEN
    RETURN v_time::timestamptz;
  END IF;
  RETURN NULL;
EXCEPTION
  WHEN datetime_field_overflow OR invalid_datetime_format OR invalid_time_zone_displacement_value THEN
    RETURN NULL;
END $f$;
