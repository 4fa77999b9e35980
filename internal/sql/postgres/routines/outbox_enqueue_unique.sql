-- Enqueue one message with a unique key in the caller's transaction, which needs READ COMMITTED. An
-- earlier message with the key takes its place while it is not done (scope not_done), while no
-- worker holds it (not_begun) or, with period_seconds, if it was enqueued less than that ago.
-- replace: if the earlier one waits it is cancelled, and this one is due when it was. debounce: if
-- the earlier one waits it becomes due when this one is; with replace, this one keeps its own time.
-- Returns a row: the id of the message that is stored, and whether it is the earlier one.
CREATE OR REPLACE FUNCTION pawl.outbox_enqueue_unique(topic text, payload text, unique_key text, scope text DEFAULT 'not_done', period_seconds double precision DEFAULT NULL,
  replace boolean DEFAULT false, debounce boolean DEFAULT false, due_time_utc timestamptz DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0,
  correlation_id text DEFAULT NULL, headers jsonb DEFAULT NULL)
RETURNS TABLE (message_id uuid, duplicate boolean) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_due     timestamptz;
  v_headers text;
  v_period  bigint := 0;
  v_id      bigint;
  v_mid     uuid;
  v_ordered boolean := headers IS NOT NULL AND pawl.check_order(headers, priority);
BEGIN
  PERFORM pawl.check_message(topic, payload, correlation_id, queue, priority), pawl.check_text('unique key', unique_key, 255, true),
          pawl.check_null('replace', replace IS NULL), pawl.check_null('debounce', debounce IS NULL);
  IF scope IS NULL OR scope NOT IN ('not_done', 'not_begun') THEN
    PERFORM pawl.check_refuse('scope', 'neither not_done nor not_begun');
  END IF;
  IF period_seconds IS NOT NULL THEN
    IF NOT period_seconds BETWEEN 0.000001 AND 9e9 THEN
      PERFORM pawl.check_refuse('period', 'not within a microsecond and 9e9 seconds');
    END IF;
    v_period := period_seconds * 1e6;
  END IF;
  IF due_time_utc IS NOT NULL THEN
    v_due := pawl.check_due('due time', due_time_utc);
  END IF;
  IF headers IS NOT NULL THEN
    v_headers := pawl.check_headers(headers);
  END IF;
  v_id := nextval('pawl.outbox_single');
  v_mid := pawl.outbox_message_id(v_id);
  SELECT k.o_mid INTO message_id
    FROM pawl.outbox_enqueue_keyed(ARRAY[v_id], ARRAY[v_mid], ARRAY[topic], ARRAY[nullif(correlation_id, '')], ARRAY[v_headers], ARRAY[convert_to(payload, 'UTF8')],
      ARRAY[pawl.outbox_lane_id(queue, priority::smallint, v_ordered::integer::smallint)], ARRAY[v_due], ARRAY[queue], ARRAY[false], ARRAY[0]::bigint[], ARRAY[unique_key],
      ARRAY[scope = 'not_begun'], ARRAY[v_period], ARRAY[replace], ARRAY[debounce]) k;
  duplicate := message_id IS NOT NULL;
  message_id := coalesce(message_id, v_mid);
  RETURN NEXT;
END $f$;

CREATE OR REPLACE FUNCTION pawl.outbox_enqueue_unique(topic text, payload jsonb, unique_key text, scope text DEFAULT 'not_done', period_seconds double precision DEFAULT NULL,
  replace boolean DEFAULT false, debounce boolean DEFAULT false, due_time_utc timestamptz DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0,
  correlation_id text DEFAULT NULL, headers jsonb DEFAULT NULL)
RETURNS TABLE (message_id uuid, duplicate boolean) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN QUERY SELECT * FROM pawl.outbox_enqueue_unique($1, $2::text, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);
END $f$;
