-- Claim messages of the inbox's queue. Those that were done or given up meanwhile are settled
-- here and not returned; one that is being processed elsewhere is put back for a second. A
-- claim is an attempt, of which a message has max_attempts (0: any number), except when its
-- lease expires: that counts only if the message was claimed alone (outbox_claim). Settle
-- with inbox_ack, inbox_abandon or inbox_fail: they settle both, message and inbox.
CREATE OR REPLACE FUNCTION pawl.inbox_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50, queue text DEFAULT 'inbox', max_attempts integer DEFAULT 10)
RETURNS TABLE (id bigint, source text, message_id text, topic text, payload text, correlation_id text, headers text, created_at timestamptz, due_time_utc timestamptz, attempts integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  v_max   integer := pawl.check_attempts(max_attempts);
  v_key   record;
  v_error text;
  m       record;
BEGIN
  FOR m IN SELECT c.* FROM pawl.outbox_claim(owner_token, lease_seconds, batch_size, queue) c LOOP
    v_key := pawl.inbox_key(m.headers);
    v_error := 'not a message of the inbox: ' || v_key.o_wrong;
    IF v_error IS NULL AND v_max > 0 AND m.retry_count >= v_max THEN
      -- Its leases expired, each time that it was claimed alone.
      v_error := format('lease expired; gave up after %s attempts, the last of which did not end', m.retry_count);
      PERFORM pawl.inbox_fail_row(v_key.o_source, v_key.o_message, v_key.o_hash, NULL, v_error, true, v_max);
    END IF;
    IF v_error IS NULL THEN
      CASE pawl.inbox_take(v_key.o_source, v_key.o_message, v_key.o_hash, owner_token, make_interval(secs => lease_seconds), v_max, true)
        WHEN 1 THEN
          id := m.id; source := v_key.o_source; message_id := v_key.o_message; topic := m.topic; payload := m.payload; correlation_id := m.correlation_id;
          headers := m.headers; created_at := m.created_at; due_time_utc := m.due_time_utc;
          attempts := (SELECT i.attempts FROM pawl.inbox i WHERE i.source = v_key.o_source AND i.message_id = v_key.o_message);
          RETURN NEXT;
        WHEN 2 THEN PERFORM pawl.outbox_ack(owner_token, ARRAY[m.id]);
        WHEN 3 THEN v_error := 'message is dead';
        WHEN 4 THEN v_error := 'message has another hash than at first';
        ELSE PERFORM pawl.outbox_release(owner_token, ARRAY[m.id], interval '1 second');
      END CASE;
    END IF;
    IF v_error IS NOT NULL THEN
      PERFORM pawl.outbox_fail(owner_token, ARRAY[m.id], v_error);
    END IF;
  END LOOP;
END $f$;
