-- Refuse a message that Go would refuse, except for its headers and time. Most messages need
-- no further check, and cost no further call.
CREATE OR REPLACE FUNCTION pawl.check_message(p_topic text, p_payload text, p_correlation text, p_queue text, p_priority integer) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF p_topic COLLATE "C" >= '!' AND p_topic COLLATE "C" < E'\x7f' AND length(p_topic) <= 255 AND p_queue COLLATE "C" >= '!' AND p_queue COLLATE "C" < E'\x7f' AND length(p_queue) <= 255
    AND coalesce(length(p_correlation), 0) <= 255 AND p_priority BETWEEN -100 AND 100
    AND length(p_payload) <= 262144 AND coalesce(current_setting('pawl_sql.max_payload', true), '') = '' THEN
    RETURN;
  END IF;
  PERFORM pawl.check_text('topic', p_topic, 255, true), pawl.check_text('correlation id', p_correlation, 255, false), pawl.check_text('queue', p_queue, 255, true),
          pawl.check_null('priority', p_priority IS NULL);
  IF p_priority NOT BETWEEN -100 AND 100 THEN
    PERFORM pawl.check_refuse('priority', 'not within -100 to 100');
  END IF;
  PERFORM pawl.check_payload(p_payload);
END $f$;
