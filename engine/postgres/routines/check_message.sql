-- Refuse a message that Go would refuse, but for its payload, headers and time.
CREATE OR REPLACE FUNCTION pawl.check_message(p_topic text, p_correlation text, p_queue text, p_priority integer) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('topic', p_topic, 255, true), pawl.check_text('correlation id', p_correlation, 255, false), pawl.check_text('queue', p_queue, 255, true),
          pawl.check_null('priority', p_priority IS NULL);
  IF p_priority NOT BETWEEN -100 AND 100 THEN
    PERFORM pawl.check_refuse('priority', 'not within -100 … 100');
  END IF;
END $f$;
