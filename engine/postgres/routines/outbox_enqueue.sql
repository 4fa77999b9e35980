-- Enqueue one message in the caller's transaction. Supplying the same
-- message_id again adds nothing. Returns the message id.
CREATE OR REPLACE FUNCTION pawl.outbox_enqueue(topic text, payload text, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_id   bigint;
  v_mid  uuid := message_id;
  v_lane bigint;
  v_due  timestamptz := pawl.outbox_due(due_time_utc);
BEGIN
  IF coalesce(length(topic), 0) NOT BETWEEN 1 AND 255 OR btrim(topic) = '' THEN
    RAISE EXCEPTION 'topic: 1 to 255 characters, not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'payload: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF length(correlation_id) > 255 OR length(queue) NOT BETWEEN 1 AND 255 OR priority NOT BETWEEN -100 AND 100 THEN
    RAISE EXCEPTION 'correlation_id and queue: 255 characters at most; priority: -100 to 100' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  v_lane := pawl.outbox_lane_id(queue, priority::smallint);
  v_id := nextval('pawl.outbox_single');
  IF v_mid IS NULL THEN
    v_mid := pawl.outbox_message_id(v_id);
  END IF;
  INSERT INTO pawl.outbox_message AS m (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
  VALUES (v_id, v_mid, message_id IS NOT NULL, v_lane, v_due, topic, nullif(correlation_id, ''), headers::text, convert_to(payload, 'UTF8'))
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (v_lane, coalesce(v_due, clock_timestamp()), v_id, 1);
    PERFORM pawl.outbox_wake(ARRAY[queue]);
  END IF;
  RETURN v_mid;
END $f$;

CREATE OR REPLACE FUNCTION pawl.outbox_enqueue(topic text, payload jsonb, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.outbox_enqueue($1, $2::text, $3, $4, $5, $6, $7, $8);
END $f$;
