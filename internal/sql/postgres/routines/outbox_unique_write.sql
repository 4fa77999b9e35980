-- Write the messages p_nr of those that outbox_enqueue_keyed has; they have taken their keys. One whose
-- position was taken gets another, and its key knows.
CREATE OR REPLACE FUNCTION pawl.outbox_unique_write(p_id bigint[], p_mid uuid[], p_topic text[], p_correlation text[], p_headers text[], p_payload bytea[], p_lane bigint[],
  p_due timestamptz[], p_supplied boolean[], p_position bigint[], p_key text[], p_nr bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_new integer;
BEGIN
  IF p_nr = '{}' THEN
    RETURN;
  END IF;
  SELECT pawl.outbox_enqueue_once(array_agg(u.id), array_agg(u.mid), array_agg(u.topic), array_agg(u.correlation), array_agg(u.headers), array_agg(u.payload), array_agg(u.lane), array_agg(u.due),
           '{}', array_agg(u.supplied), array_agg(u.position)) INTO v_new
    FROM unnest(p_id, p_mid, p_topic, p_correlation, p_headers, p_payload, p_lane, p_due, p_supplied, p_position)
      WITH ORDINALITY u(id, mid, topic, correlation, headers, payload, lane, due, supplied, position, nr)
   WHERE (u.nr IN (SELECT x.nr FROM unnest(p_nr) x(nr))) IS TRUE;
  IF v_new < cardinality(p_nr) THEN
    PERFORM pawl.check_refuse('message id', 'stored without its unique key');
  END IF;
  UPDATE pawl.outbox_unique k SET id = pawl.outbox_position(u.mid)
    FROM unnest(p_id, p_mid, p_key) WITH ORDINALITY u(id, mid, key, nr)
   WHERE (u.nr IN (SELECT x.nr FROM unnest(p_nr) x(nr))) IS TRUE AND k.key = u.key AND NOT EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id = u.id AND m.message_id = u.mid);
END $f$;
