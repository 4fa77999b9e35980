-- Operating pawl: who did what, what is paused, which workers there are; see
-- docs/operating.md. "pawl." stands for the configured schema and prefix.

-- What operators did. A row grows while its operation, in many transactions, does.
CREATE TABLE pawl.audit_trail (
  id     uuid PRIMARY KEY,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor  text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  n      bigint NOT NULL
);
CREATE INDEX ON pawl.audit_trail (at, id);

-- Put p_n on the account of an operation, and return it.
CREATE FUNCTION pawl.audit_note(p_id uuid, p_actor text, p_action text, p_target text, p_n bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  IF p_n > 0 THEN
    INSERT INTO pawl.audit_trail AS a (id, actor, action, target, n) VALUES (p_id, p_actor, p_action, p_target, p_n)
    ON CONFLICT (id) DO UPDATE SET n = a.n + excluded.n;
  END IF;
  RETURN p_n;
END $f$;

-- What is paused. Of a queue nothing is claimed. Messages of a topic are laid
-- aside when they are claimed: into a lane that no queue has, so that each is met
-- once, and everything that looks for messages still finds them.
CREATE TABLE pawl.outbox_pause (
  kind   text NOT NULL CHECK (kind IN ('queue', 'topic')),
  name   text COLLATE "C" NOT NULL,
  lane   bigint NOT NULL, -- where a topic's messages are laid aside
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor  text NOT NULL,
  reason text,
  ending boolean NOT NULL DEFAULT false, -- it is over, but not all is back yet
  PRIMARY KEY (kind, name)
);

-- Lay claimed runs aside whose topic is paused; others go back to ready, as if
-- released. A pause that ends meanwhile waits for us (the shared lock): nothing
-- is laid aside for ever.
CREATE FUNCTION pawl.outbox_park_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_topic text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_topic text[] := '{}';
  v_lane  bigint[] := '{}';
  v_pause record;
  v_got   bigint;
BEGIN
  FOR v_pause IN SELECT p.name, p.lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = ANY (p_topic) AND NOT p.ending ORDER BY p.name FOR SHARE LOOP
    v_topic := v_topic || v_pause.name;
    v_lane := v_lane || v_pause.lane;
  END LOOP;
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, coalesce(v_lane[array_position(v_topic, r.topic)], x.lane) AS lane, x.at, x.retry
      FROM unnest(p_owner, p_lo, p_n, p_topic) r(owner, lo, n, topic), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Bring up to p_runs runs of an ended pause back, and forget the pause when there
-- are none left. Returns how many messages came back.
CREATE FUNCTION pawl.outbox_unpark_runs(p_topic text, p_runs integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_lane   bigint;
  v_got    bigint;
  v_queues text[];
BEGIN
  SELECT p.lane INTO v_lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = p_topic AND p.ending FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  LOOP
    WITH x AS MATERIALIZED (
      SELECT r.lo FROM pawl.outbox_ready r WHERE r.lane = v_lane ORDER BY r.at, r.lo LIMIT p_runs FOR UPDATE),
    u AS (
      UPDATE pawl.outbox_ready r SET lane = m.lane FROM pawl.outbox_message m WHERE r.lo = ANY (ARRAY(SELECT x.lo FROM x)) AND m.id = r.lo RETURNING r.n, m.lane)
    SELECT coalesce(sum(u.n), 0), array_agg(DISTINCT l.queue) INTO v_got, v_queues FROM u JOIN pawl.outbox_lane l ON l.id = u.lane;
    EXIT WHEN v_got > 0;
    -- Somebody who withdrew a message left the rest of its run behind (outbox_withdraw):
    -- that we see only with a fresh snapshot.
    IF NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane) THEN
      DELETE FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = p_topic;
      RETURN 0;
    END IF;
  END LOOP;
  PERFORM pawl.outbox_wake(v_queues);
  RETURN v_got;
END $f$;

-- Take messages back that nobody has claimed: they count as discarded, and as
-- failed steps of their joins. Returns how many.
CREATE FUNCTION pawl.outbox_cancel(p_ids bigint[], p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  v_ids := ARRAY(SELECT w.lo FROM pawl.outbox_withdraw(p_ids, false) w);
  INSERT INTO pawl.outbox_exception AS e (id, status, last_error, updated_at) SELECT i, 4, p_reason, clock_timestamp() FROM unnest(v_ids) i
  ON CONFLICT (id) DO UPDATE SET status = 4, next_attempt_at = NULL, last_error = excluded.last_error, updated_at = excluded.updated_at;
  PERFORM pawl.outbox_join_settle(s.o_lo, s.o_n) FROM pawl.outbox_runs(v_ids) s;
  RETURN cardinality(v_ids);
END $f$;

-- Make messages due at another time that nobody has claimed. Returns how many.
CREATE FUNCTION pawl.outbox_reschedule(p_ids bigint[], p_at timestamptz) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_got    bigint;
  v_queues text[];
BEGIN
  WITH q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
    SELECT w.lane, p_at, w.lo, w.n, w.retry FROM pawl.outbox_withdraw(p_ids, false) w RETURNING lane, lo),
  e AS (
    UPDATE pawl.outbox_exception e SET next_attempt_at = p_at, updated_at = clock_timestamp() FROM q WHERE e.id = q.lo AND e.status = 0)
  SELECT count(*), array_agg(DISTINCT l.queue) FILTER (WHERE l.queue IS NOT NULL) INTO v_got, v_queues FROM q LEFT JOIN pawl.outbox_lane l ON l.id = q.lane;
  PERFORM pawl.outbox_wake(coalesce(v_queues, '{}'));
  RETURN v_got;
END $f$;

-- Failed messages behind position p_after that a filter chooses, up to p_n of
-- them, looking at p_look: o_last is where to go on, null at the end.
CREATE FUNCTION pawl.outbox_dead_pick(p_ids bigint[], p_topic text, p_queue text, p_error text, p_since timestamptz, p_before timestamptz,
  p_after bigint, p_look integer, p_n bigint, OUT o_ids bigint[], OUT o_last bigint) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_seen bigint;
  v_high bigint;
BEGIN
  WITH look AS MATERIALIZED (
    SELECT x.id, x.last_error, x.updated_at FROM pawl.outbox_exception x
     WHERE x.status >= 3 AND x.status = 3 AND x.id > p_after AND (p_ids IS NULL OR x.id = ANY (p_ids)) ORDER BY x.id LIMIT p_look),
  match AS MATERIALIZED (
    SELECT look.id FROM look JOIN pawl.outbox_message m ON m.id = look.id LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
     WHERE (p_topic IS NULL OR m.topic = p_topic) AND (p_queue IS NULL OR l.queue = p_queue)
       AND (p_error IS NULL OR position(p_error IN look.last_error) > 0)
       AND (p_since IS NULL OR look.updated_at >= p_since) AND (p_before IS NULL OR look.updated_at < p_before)
     ORDER BY look.id LIMIT p_n)
  SELECT coalesce((SELECT array_agg(match.id ORDER BY match.id) FROM match), '{}'), (SELECT count(*) FROM look), (SELECT max(look.id) FROM look)
    INTO o_ids, v_seen, v_high;
  IF cardinality(o_ids) >= p_n THEN
    o_last := o_ids[cardinality(o_ids)];
  ELSIF v_seen >= p_look THEN
    o_last := v_high;
  END IF;
END $f$;

-- Give up failed messages. Returns how many.
CREATE FUNCTION pawl.outbox_discard(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.outbox_exception e SET status = 4, next_attempt_at = NULL, updated_at = clock_timestamp()
   WHERE e.id = ANY (ARRAY(SELECT x.id FROM pawl.outbox_exception x WHERE x.id = ANY (p_ids) AND x.status = 3 ORDER BY x.id FOR UPDATE)) AND e.status = 3;
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;

-- Processes that work on this database. One that crashed stays until somebody
-- tidies up: it is known by its expiry.
CREATE TABLE pawl.worker_process (
  id           uuid PRIMARY KEY,
  name         text NOT NULL,
  host         text NOT NULL,
  pid          bigint NOT NULL,
  version      text NOT NULL,
  started_at   timestamptz NOT NULL,
  heartbeat_at timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  queues       text NOT NULL, -- JSON arrays
  topics       text NOT NULL,
  concurrency  bigint NOT NULL,
  in_flight    bigint NOT NULL,
  shared       boolean NOT NULL -- it works on many databases, taking turns
) WITH (fillfactor = 50);

-- Claim for a worker in another language: nothing of a paused queue.
CREATE OR REPLACE FUNCTION pawl.outbox_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50, queue text DEFAULT 'default')
RETURNS TABLE (id bigint, message_id uuid, topic text, payload text, correlation_id text, headers text, created_at timestamptz, due_time_utc timestamptz, retry_count integer)
LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
BEGIN
  PERFORM pawl.outbox_reap_runs(100);
  IF EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = queue) THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT c.id, c.message_id, c.topic, pawl.outbox_text(c.payload), c.correlation_id, c.headers, c.created_at, c.due_at, c.retry
    FROM pawl.outbox_claim_runs(queue, owner_token, make_interval(secs => lease_seconds), batch_size, batch_size, '-infinity') c;
END $f$;
