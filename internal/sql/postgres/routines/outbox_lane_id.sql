-- The lane of a queue at a priority, registered if it is new. Of two sessions that do so at
-- once the second may conflict with either key first.
CREATE OR REPLACE FUNCTION pawl.outbox_lane_id(p_queue text, p_priority smallint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id bigint;
BEGIN
  SELECT l.id INTO v_id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.priority = p_priority;
  IF v_id IS NULL THEN
    v_id := ('x' || left(md5(p_queue || '/' || p_priority), 16))::bit(64)::bigint;
    INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (v_id, p_queue, p_priority) ON CONFLICT DO NOTHING;
  END IF;
  RETURN v_id;
END $f$;
