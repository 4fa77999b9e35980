-- When a timer of this due time fires, null for now: the due time is required.
CREATE OR REPLACE FUNCTION pawl.timer_due(p_due timestamptz) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('due time', p_due IS NULL);
  RETURN pawl.check_due('due time', p_due);
END $f$;
