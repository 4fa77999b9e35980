-- A due time as it is kept: null, which is now, for every time before 1970, as in
-- Go: other systems say "now" with the year 1.
CREATE OR REPLACE FUNCTION pawl.outbox_due(p_at timestamptz) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN CASE WHEN p_at >= timestamptz '1970-01-01 00:00:00+00' THEN p_at END;
END $f$;
