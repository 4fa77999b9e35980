-- Refuse a claim that Go would refuse.
CREATE OR REPLACE FUNCTION pawl.check_claim(p_owner uuid, p_seconds integer, p_n integer, p_queue text) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('owner token', p_owner), pawl.check_lease(p_seconds), pawl.check_null('batch size', p_n IS NULL), pawl.check_text('queue', p_queue, 255, true);
  IF p_n < 1 THEN
    PERFORM pawl.check_refuse('batch size', 'less than 1');
  END IF;
END $f$;
