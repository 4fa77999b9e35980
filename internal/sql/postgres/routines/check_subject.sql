-- Refuse what is no topic or queue that can have a limit. Go's subject.Check.
CREATE OR REPLACE FUNCTION pawl.check_subject(p_kind text, p_name text) RETURNS void LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_null('kind', p_kind IS NULL);
  IF p_kind NOT IN ('queue', 'topic') THEN
    PERFORM pawl.check_refuse('kind', 'neither queue nor topic');
  END IF;
  PERFORM pawl.check_text(p_kind, p_name, 255, true);
END $f$;
