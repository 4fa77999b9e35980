-- The time at which a message that is due at once becomes ready: with an ordering key always the
-- same one, so that a clock that is set back changes no order.
CREATE OR REPLACE FUNCTION pawl.outbox_at(p_lane bigint, p_now timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN CASE WHEN EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.id = p_lane AND l.kind = 1) THEN 'epoch' ELSE p_now END;
END $f$;
