-- Enqueue messages with unique keys, one after the other, so that of several with one key each
-- finds the one before. Arrays of equal length, or null where none has the field, as those of
-- outbox_enqueue_once; p_period in microseconds, 0 for none. Returns those that were not written,
-- and the message in the place of each. Those that are written are so together: at the end, or
-- before the next one with a key that one of them has. SECURITY DEFINER:
-- replacing and rescheduling the earlier message needs rights that a producer does not have, and
-- has for its own keys only. So a key is never given to a message that another enqueue has stored.
CREATE OR REPLACE FUNCTION pawl.outbox_enqueue_keyed(p_id bigint[], p_mid uuid[], p_topic text[], p_correlation text[], p_headers text[], p_payload bytea[], p_lane bigint[],
  p_due timestamptz[], p_queues text[], p_supplied boolean[], p_position bigint[], p_key text[], p_unbegun boolean[], p_period bigint[], p_replace boolean[], p_debounce boolean[])
RETURNS TABLE (o_id bigint, o_mid uuid) LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v      record;
  v_key  record;
  v_some bigint[] := '{}'; -- which have their keys and are to be written
  v_keys text[] := '{}';   -- theirs
BEGIN
  PERFORM pawl.check_isolation('enqueue with a unique key');
  FOR v IN SELECT * FROM unnest(p_id, p_mid, p_due, p_position, p_key, p_unbegun, p_period, p_replace, p_debounce)
    WITH ORDINALITY u(id, mid, due, position, key, unbegun, period, replace, debounce, nr) ORDER BY u.nr
  LOOP
    INSERT INTO pawl.outbox_unique (key, id, message_id, enqueued_at, until)
    VALUES (v.key, v.id, v.mid, clock_timestamp(), clock_timestamp() + nullif(v.period, 0) * interval '1 microsecond') ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
      v_some := v_some || v.nr;
      v_keys := v_keys || v.key;
      CONTINUE;
    END IF;
    IF v.key = ANY (v_keys) THEN
      PERFORM pawl.outbox_unique_write(p_id, p_mid, p_topic, p_correlation, p_headers, p_payload, p_lane, p_due, p_supplied, p_position, p_key, v_some);
      v_some := '{}';
      v_keys := '{}';
    END IF;
    v_key := pawl.outbox_unique_take(v.key, v.id, v.mid, v.position, v.unbegun, nullif(v.period, 0) * interval '1 microsecond', v.replace, v.debounce, v.due);
    IF v_key.o_mid IS NOT NULL THEN
      o_id := v.id;
      o_mid := v_key.o_mid;
      RETURN NEXT;
      CONTINUE;
    END IF;
    p_due[v.nr] := coalesce(v_key.o_at, v.due);
    v_some := v_some || v.nr;
    v_keys := v_keys || v.key;
  END LOOP;
  PERFORM pawl.outbox_unique_write(p_id, p_mid, p_topic, p_correlation, p_headers, p_payload, p_lane, p_due, p_supplied, p_position, p_key, v_some);
  PERFORM pawl.outbox_wake(p_queues);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_enqueue_keyed FROM PUBLIC;
