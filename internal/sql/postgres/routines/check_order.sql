-- Is there an ordering key among the headers, or a fair one by which the message takes turns, as none with a
-- priority does? Refuse what Go would refuse.
CREATE OR REPLACE FUNCTION pawl.check_order(p_headers jsonb, p_priority integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_key  text := p_headers ->> 'pawl-ordering-key';
  v_fair text := p_headers ->> 'pawl-fair-key';
BEGIN
  IF coalesce(v_key, '') = '' THEN
    IF coalesce(v_fair, '') = '' OR p_priority <> 0 THEN
      RETURN false;
    END IF;
    PERFORM pawl.check_text('fair key', v_fair, 255, true);
    RETURN true;
  END IF;
  PERFORM pawl.check_text('ordering key', v_key, 255, true);
  IF p_priority <> 0 THEN
    PERFORM pawl.check_refuse('priority', 'not 0, with an ordering key');
  END IF;
  RETURN true;
END $f$;
