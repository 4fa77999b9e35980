-- Mark messages of the inbox as done, and their messages as handled. Returns how
-- many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.inbox_ack(owner_token uuid, ids bigint[], processed_by text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_key record;
  v_ids bigint[] := '{}';
BEGIN
  PERFORM pawl.check_id('owner token', owner_token), pawl.check_text('processed by', processed_by, 255, false);
  FOR v_key IN SELECT k.* FROM pawl.inbox_lock(ids) k LOOP
    UPDATE pawl.inbox i SET status = 'Done', processed_utc = clock_timestamp(), token = NULL, locked_until_utc = NULL
     WHERE i.source = v_key.source AND i.message_id = v_key.message AND i.status IN ('Seen', 'Processing') AND i.token = owner_token; -- for 'Processing' alone a new index is read whole each time
    IF FOUND THEN
      v_ids := v_ids || v_key.id;
    END IF;
  END LOOP;
  PERFORM pawl.outbox_ack(owner_token, v_ids, processed_by);
  RETURN cardinality(v_ids);
END $f$;
