-- The lane of a topic's limit in a queue, registered if it is new. Only a name that ends so is one of
-- a limit, whatever is in the queue's name.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_lane(p_queue text, p_priority smallint, p_topic text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id bigint := ('x' || left(md5(p_queue || '/' || p_priority || '/' || md5(p_topic) || '/limit'), 16))::bit(64)::bigint;
BEGIN
  INSERT INTO pawl.outbox_lane (id, queue, priority, kind, topic) SELECT v_id, p_queue, p_priority, 3, p_topic WHERE NOT EXISTS (SELECT FROM pawl.outbox_lane l WHERE l.id = v_id)
  ON CONFLICT DO NOTHING;
  RETURN v_id;
END $f$;
