-- Schedule a timer in the caller's transaction. With a key it replaces a pending
-- one of that key. Returns the id, which will be the message's as well.
CREATE OR REPLACE FUNCTION pawl.timer_schedule(topic text, payload text, due_time timestamptz, correlation_id text DEFAULT NULL, key text DEFAULT NULL, timer_id uuid DEFAULT NULL,
  headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_given   uuid := nullif(timer_id, '00000000-0000-0000-0000-000000000000');
  v_due     timestamptz := pawl.timer_due(due_time);
  v_headers text := pawl.check_headers(headers);
  v_id      bigint;
  v_timer   uuid;
BEGIN
  PERFORM pawl.check_message(topic, payload, correlation_id, queue, priority), pawl.check_text('key', key, 255, key <> '');
  v_id := nextval('pawl.outbox_single');
  v_timer := coalesce(v_given, pawl.outbox_message_id(v_id));
  PERFORM pawl.timer_schedule_rows(ARRAY[v_id], ARRAY[v_timer], ARRAY[topic], ARRAY[nullif(correlation_id, '')], ARRAY[v_headers], ARRAY[convert_to(payload, 'UTF8')],
    ARRAY[pawl.outbox_lane_id(queue, priority::smallint)], ARRAY[v_due], ARRAY[v_given IS NOT NULL],
    ARRAY[pawl.timer_carried(v_given)], ARRAY[nullif(key, '')]);
  RETURN v_timer;
END $f$;
