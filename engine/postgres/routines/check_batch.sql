-- Refuse a batch size below 1, and return how many a claim takes: 1000 at most,
-- as in Go.
CREATE OR REPLACE FUNCTION pawl.check_batch(p_n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('batch size', p_n IS NULL);
  IF p_n < 1 THEN
    PERFORM pawl.check_refuse('batch size', 'less than 1');
  END IF;
  RETURN least(p_n, 1000);
END $f$;
