-- The position of a message, or null. Ids that pawl makes carry it.
CREATE OR REPLACE FUNCTION pawl.outbox_position(p_message uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_id bigint := ('x' || right(p_message::text, 12))::bit(48)::bigint;
BEGIN
  IF EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id = v_id AND m.message_id = p_message) THEN
    RETURN v_id;
  END IF;
  SELECT m.id INTO v_id FROM pawl.outbox_message m WHERE m.message_id = p_message AND m.supplied;
  RETURN v_id;
END $f$;
