-- Keep these topics' pauses from ending until the transaction ends, and return those that have not begun
-- to end. SECURITY DEFINER: a worker may not change pauses, and a lock on a row needs the right to.
CREATE OR REPLACE FUNCTION pawl.pause_hold(p_topic text[]) RETURNS TABLE (o_topic text, o_lane bigint) LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN QUERY SELECT p.name, p.lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND (p.name IN (SELECT t FROM unnest(p_topic) t)) IS TRUE AND NOT p.ending ORDER BY p.name FOR SHARE;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.pause_hold FROM PUBLIC;
