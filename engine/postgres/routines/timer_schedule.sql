-- Schedule a timer in the caller's transaction. With a key it replaces a pending
-- one of that key. Returns the id, which will be the message's as well.
CREATE OR REPLACE FUNCTION pawl.timer_schedule(topic text, payload text, due_time timestamptz, correlation_id text DEFAULT NULL, key text DEFAULT NULL, timer_id uuid DEFAULT NULL,
  headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_id    bigint := nextval('pawl.outbox_single');
  v_timer uuid := coalesce(timer_id, pawl.outbox_message_id(v_id));
BEGIN
  IF coalesce(length(topic), 0) NOT BETWEEN 1 AND 255 OR btrim(topic) = '' THEN
    RAISE EXCEPTION 'topic: 1 to 255 characters, not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'payload: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF coalesce(length(queue), 0) NOT BETWEEN 1 AND 255 OR btrim(queue) = '' OR coalesce(priority, 101) NOT BETWEEN -100 AND 100 THEN
    RAISE EXCEPTION 'queue: 1 to 255 characters, not blank; priority: -100 to 100' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF length(correlation_id) > 255 OR length(key) > 255 OR key <> '' AND btrim(key) = '' THEN
    RAISE EXCEPTION 'correlation_id and key: 255 characters at most; key: not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pawl.timer_check_due(due_time);
  PERFORM pawl.timer_schedule_rows(ARRAY[v_id], ARRAY[v_timer], ARRAY[topic], ARRAY[nullif(correlation_id, '')], ARRAY[headers::text], ARRAY[convert_to(payload, 'UTF8')],
    ARRAY[pawl.outbox_lane_id(queue, priority::smallint)], ARRAY[pawl.outbox_due(due_time)], ARRAY[timer_id IS NOT NULL],
    ARRAY[CASE WHEN timer_id IS NOT NULL THEN pawl.timer_carried(timer_id) END], ARRAY[nullif(key, '')]);
  RETURN v_timer;
END $f$;
