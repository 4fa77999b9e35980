-- Refuse a number that is out of bounds, and return it; null is 0, which is none. p_least and
-- p_most are how the bounds read. Go's engine.CheckOption.
CREATE OR REPLACE FUNCTION pawl.check_option(p_field text, p_value double precision, p_lo double precision, p_hi double precision,
                                             p_least text DEFAULT NULL, p_most text DEFAULT NULL) RETURNS double precision LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  CASE
    WHEN coalesce(p_value, 0) = 0 THEN RETURN 0;
    WHEN p_value < 0 THEN PERFORM pawl.check_refuse(p_field, 'negative');
    WHEN p_value < p_lo THEN PERFORM pawl.check_refuse(p_field, 'less than ' || coalesce(p_least, p_lo::bigint::text));
    WHEN p_value > p_hi THEN PERFORM pawl.check_refuse(p_field, 'more than ' || coalesce(p_most, p_hi::bigint::text));
    ELSE RETURN p_value;
  END CASE;
  RETURN NULL;
END $f$;
