-- The position of a timer, or null.
CREATE OR REPLACE FUNCTION pawl.timer_position(p_timer uuid) RETURNS bigint LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id bigint := pawl.timer_carried(p_timer);
BEGIN
  IF EXISTS (SELECT FROM pawl.timer t WHERE t.id = v_id AND t.timer_id = p_timer) THEN
    RETURN v_id;
  END IF;
  SELECT t.id INTO v_id FROM pawl.timer t WHERE t.timer_id = p_timer AND t.supplied;
  RETURN v_id;
END $f$;
