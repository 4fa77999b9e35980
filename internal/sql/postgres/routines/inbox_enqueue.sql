-- Store a message from elsewhere for the inbox's workers, in the caller's transaction, once: false if
-- it is known already. One whose hash is another than at first is refused. Headers of pawl's own are
-- replaced, and messages of the inbox do not expire.
CREATE OR REPLACE FUNCTION pawl.inbox_enqueue(source text, message_id text, topic text, payload text, hash bytea DEFAULT NULL, correlation_id text DEFAULT NULL,
  due_time_utc timestamptz DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'inbox', priority integer DEFAULT 0)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_own jsonb;
  v_mid uuid;
  v_new boolean;
BEGIN
  PERFORM pawl.check_text('source', source, 255, true), pawl.check_text('message id', message_id, 255, true);
  IF length(hash) > 64 THEN
    PERFORM pawl.check_refuse('hash', 'more than 64 bytes');
  END IF;
  PERFORM pawl.check_headers(headers); -- an object, if any
  IF headers ? 'pawl-expires' THEN
    PERFORM pawl.check_refuse('headers', 'pawl-expires: messages of an inbox do not expire');
  END IF;
  v_own := jsonb_strip_nulls(jsonb_build_object('pawl-inbox-source', source, 'pawl-inbox-message-id', message_id, 'pawl-inbox-hash', encode(nullif(hash, ''), 'hex')));
  v_mid := pawl.inbox_message_id(source, message_id);
  CASE pawl.inbox_see(source, message_id, nullif(hash, ''))
    WHEN 4 THEN PERFORM pawl.check_refuse('hash', 'another than at first');
    WHEN 2 THEN RETURN false;
    ELSE NULL;
  END CASE;
  v_new := pawl.outbox_position(v_mid) IS NULL;
  PERFORM pawl.outbox_enqueue(topic, payload, correlation_id, due_time_utc, v_mid, coalesce(headers, '{}') || v_own, queue, priority);
  RETURN v_new;
END $f$;
