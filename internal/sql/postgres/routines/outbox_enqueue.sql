-- Enqueue one message in the caller's transaction. A message_id that is stored
-- already adds nothing, also one that pawl made: that carries its position.
-- Returns the message id.
CREATE OR REPLACE FUNCTION pawl.outbox_enqueue(topic text, payload text, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_given   uuid := nullif(message_id, '00000000-0000-0000-0000-000000000000');
  v_due     timestamptz;
  v_headers text;
  v_lane    bigint;
  v_id      bigint;
  v_mid     uuid;
  v_ordered boolean := headers IS NOT NULL AND pawl.check_order(headers, priority);
BEGIN
  PERFORM pawl.check_message(topic, payload, correlation_id, queue, priority);
  IF due_time_utc IS NOT NULL THEN
    v_due := pawl.check_due('due time', due_time_utc);
  END IF;
  IF headers IS NOT NULL THEN
    v_headers := pawl.check_headers(headers);
  END IF;
  v_lane := pawl.outbox_lane_id(queue, priority::smallint, v_ordered::integer::smallint);
  LOOP
    IF v_given IS NOT NULL AND (pawl.outbox_position(v_given) IS NOT NULL OR pawl.timer_waits(pawl.timer_carried(v_given), v_given)) THEN
      RETURN v_given;
    END IF;
    v_id := nextval('pawl.outbox_single');
    v_mid := coalesce(v_given, pawl.outbox_message_id(v_id));
    INSERT INTO pawl.outbox_message AS m (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
    VALUES (v_id, v_mid, v_given IS NOT NULL, v_lane, v_due, topic, nullif(correlation_id, ''), v_headers, convert_to(payload, 'UTF8'))
    ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND; -- else the id is stored by now, or the position is taken
  END LOOP;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (v_lane, coalesce(v_due, CASE WHEN v_ordered THEN pawl.outbox_group_at(v_headers) ELSE clock_timestamp() END), v_id, 1);
  PERFORM pawl.outbox_wake(ARRAY[queue]);
  RETURN v_mid;
END $f$;

CREATE OR REPLACE FUNCTION pawl.outbox_enqueue(topic text, payload jsonb, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_enqueue($1, $2::text, $3, $4, $5, $6, $7, $8);
END $f$;
