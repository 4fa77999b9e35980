-- Enqueue messages of which some have an id of the caller's; arrays of equal length, or null
-- where none has the field. p_supplied marks ids that are searched in the index, p_position
-- is the position that an id made by pawl carries, or 0. A known id adds nothing, also one
-- whose first enqueue is still uncommitted, the unique keys wait for it, and that of a timer which is yet
-- to fire. A message that is
-- neither new nor known found its position taken: it gets another, and its id is indexed.
-- Returns how many messages are new.
CREATE OR REPLACE FUNCTION pawl.outbox_enqueue_once(p_id bigint[], p_mid uuid[], p_topic text[], p_correlation text[], p_headers text[], p_payload bytea[], p_lane bigint[],
  p_due timestamptz[], p_queues text[], p_supplied boolean[], p_position bigint[]) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_now  timestamptz := clock_timestamp(); -- one time for all, whichever is inserted first: they come in order of their ids
  v_group jsonb := ( -- of what is stored nobody may have to read the headers
    SELECT jsonb_object_agg(u.mid::text, g.at) FROM unnest(p_mid, p_headers) u(mid, headers), LATERAL (SELECT pawl.outbox_group_at(u.headers)) g(at)
     WHERE g.at IS NOT NULL);
  v_got  integer;
  v_more integer;
BEGIN
  WITH m AS (
    INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at, supplied)
    SELECT u.id, u.mid, u.topic, u.correlation, u.headers, u.payload, u.lane, u.due, u.supplied
      FROM unnest(p_id, p_mid, p_topic, p_correlation, p_headers, p_payload, p_lane, p_due, p_supplied, p_position)
        u(id, mid, topic, correlation, headers, payload, lane, due, supplied, position)
     WHERE NOT EXISTS (SELECT FROM pawl.outbox_message x WHERE x.id = u.position AND x.message_id = u.mid) AND NOT pawl.timer_waits(u.position, u.mid)
    ON CONFLICT DO NOTHING RETURNING id, message_id, lane, due_at),
  r AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, pawl.ready_at(m.lane, m.due_at, v_now, coalesce((v_group ->> m.message_id::text)::timestamptz, 'epoch')), m.id, 1 FROM m)
  SELECT count(*) INTO v_got FROM m;
  IF v_got < cardinality(p_id) THEN -- read with a new snapshot: the insert may have waited
    WITH m AS (
      INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at, supplied)
      SELECT nextval('pawl.outbox_single'), u.mid, u.topic, u.correlation, u.headers, u.payload, u.lane, u.due, true
        FROM unnest(p_id, p_mid, p_topic, p_correlation, p_headers, p_payload, p_lane, p_due, p_position)
          u(id, mid, topic, correlation, headers, payload, lane, due, position)
       WHERE NOT EXISTS (SELECT FROM pawl.outbox_message x WHERE x.id IN (u.id, u.position) AND x.message_id = u.mid)
         AND NOT EXISTS (SELECT FROM pawl.outbox_message x WHERE x.message_id = u.mid AND x.supplied) AND NOT pawl.timer_waits(u.position, u.mid)
      ON CONFLICT (message_id) WHERE supplied DO NOTHING RETURNING id, message_id, lane, due_at),
    r AS (
      INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, pawl.ready_at(m.lane, m.due_at, v_now, coalesce((v_group ->> m.message_id::text)::timestamptz, 'epoch')), m.id, 1 FROM m)
    SELECT count(*) INTO v_more FROM m;
    v_got := v_got + v_more;
  END IF;
  PERFORM pawl.outbox_wake(p_queues);
  RETURN v_got;
END $f$;
