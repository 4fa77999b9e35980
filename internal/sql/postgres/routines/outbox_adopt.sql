-- Register lanes that have runs and are not registered. The queue of a lane cannot be computed
-- from its id, but the ids of a queue's lanes can: of the queues given, of those that have a
-- lane, and of those of workers. Returns how many lanes.
CREATE OR REPLACE FUNCTION pawl.outbox_adopt(p_queues text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_orphans bigint[] := ARRAY(SELECT pawl.outbox_orphans());
  v_queues  text[];
BEGIN
  IF cardinality(v_orphans) = 0 THEN
    RETURN 0;
  END IF;
  WITH known AS (
    SELECT q FROM unnest(p_queues) q
    UNION SELECT l.queue FROM pawl.outbox_lane l
    UNION SELECT w.queue FROM pawl.worker_process p, jsonb_array_elements_text(p.queues::jsonb) w(queue)),
  lane AS (
    SELECT ('x' || left(md5(known.q || '/' || coalesce(kind.name, p.priority::text)), 16))::bit(64)::bigint AS id, known.q AS queue, p.priority, kind.nr AS kind
      FROM known, (VALUES (0, NULL), (1, 'ordered'), (2, 'waiting')) kind(nr, name), generate_series(-100, 100) p(priority) WHERE kind.nr = 0 OR p.priority = 0),
  new AS (
    INSERT INTO pawl.outbox_lane (id, queue, priority, kind) SELECT lane.id, lane.queue, lane.priority, lane.kind FROM lane WHERE lane.id = ANY (v_orphans)
    ON CONFLICT DO NOTHING RETURNING queue)
  SELECT array_agg(new.queue) INTO v_queues FROM new;
  PERFORM pawl.outbox_wake(v_queues) WHERE v_queues IS NOT NULL;
  RETURN coalesce(cardinality(v_queues), 0);
END $f$;
