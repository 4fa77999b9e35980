-- The position that an id made by pawl carries.
CREATE OR REPLACE FUNCTION pawl.timer_carried(p_timer uuid) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN ('x' || right(p_timer::text, 12))::bit(48)::bigint;
END $f$;
