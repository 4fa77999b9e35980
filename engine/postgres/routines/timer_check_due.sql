-- Refuse what neither we nor other programs could read again, as infinity.
CREATE OR REPLACE FUNCTION pawl.timer_check_due(due_time timestamptz) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF due_time IS NULL THEN
    RAISE EXCEPTION 'due_time: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF due_time = '-infinity' OR due_time >= timestamptz '10000-01-01 00:00:00+00' THEN
    RAISE EXCEPTION 'due_time: infinite or after the year 9999' USING ERRCODE = 'invalid_parameter_value';
  END IF;
END $f$;
