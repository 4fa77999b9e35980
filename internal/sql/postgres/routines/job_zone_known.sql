-- Whether a zone has a name of the time zone database, as far as PostgreSQL knows: neither an
-- abbreviation nor a rule.
CREATE OR REPLACE FUNCTION pawl.job_zone_known(p_zone text) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM clock_timestamp() AT TIME ZONE p_zone;
  RETURN p_zone = 'UTC' OR p_zone ~ '^[A-Za-z]+(/[A-Za-z0-9_+-]+)+$';
EXCEPTION
  WHEN invalid_parameter_value THEN
    RETURN false;
END $f$;
