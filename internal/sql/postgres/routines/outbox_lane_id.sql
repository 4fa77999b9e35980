-- The lane of a queue at a priority, registered if it is new. Of two sessions that do so at
-- once the second may conflict with either key first. For p_kind see outbox_lane.
CREATE OR REPLACE FUNCTION pawl.outbox_lane_id(p_queue text, p_priority smallint, p_kind smallint DEFAULT 0) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id bigint;
BEGIN
  SELECT l.id INTO v_id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = p_kind AND l.priority = p_priority;
  IF v_id IS NULL THEN
    v_id := ('x' || left(md5(p_queue || '/' || CASE p_kind WHEN 0 THEN p_priority::text WHEN 1 THEN 'ordered' ELSE 'waiting' END), 16))::bit(64)::bigint;
    INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (v_id, p_queue, p_priority, p_kind) ON CONFLICT DO NOTHING;
  END IF;
  RETURN v_id;
END $f$;
