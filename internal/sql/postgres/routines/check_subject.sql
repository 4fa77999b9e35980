-- Refuse what cannot have a limit. Go's throttle.check.
CREATE OR REPLACE FUNCTION pawl.check_subject(p_kind text, p_name text) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('kind', p_kind IS NULL);
  IF p_kind NOT IN ('queue', 'topic', 'each') THEN
    PERFORM pawl.check_refuse('kind', 'neither queue, topic nor each');
  END IF;
  PERFORM pawl.check_text(p_kind, p_name, 255, true);
  IF p_kind = 'each' AND p_name NOT LIKE '%*' THEN
    PERFORM pawl.check_refuse('each', 'does not end in *');
  END IF;
END $f$;
