-- Timers: see docs/timers.md. "pawl." stands for the configured schema and prefix.
--
-- A timer waits here and becomes a message when it is due: the same id, the same
-- position. Until then the outbox knows nothing of it.

CREATE TABLE pawl.timer (
  -- The position of the message-to-be. Its index has room for every timer's second
  -- version, the one that is over: pages that split cost dispatch a seventh.
  id             bigint PRIMARY KEY WITH (fillfactor = 45),
  timer_id       uuid NOT NULL,
  supplied       boolean NOT NULL DEFAULT false,
  key            text COLLATE "C",
  status         smallint NOT NULL DEFAULT 0, -- 0 scheduled, 1 claimed, 2 done, 4 cancelled
  due_time       timestamptz NOT NULL,
  at             timestamptz NOT NULL, -- when it may be taken: due_time or, after a failed attempt, later
  retry_count    integer NOT NULL DEFAULT 0,
  owner          uuid,
  claimed_at     timestamptz,
  locked_until   timestamptz,
  lane           bigint NOT NULL,
  topic          text NOT NULL,
  correlation_id text,
  headers        text,
  payload        bytea NOT NULL, -- emptied by dispatch: the message has it
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_at   timestamptz,
  last_error     text
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX ON pawl.timer (at, id) WHERE status = 0;
CREATE INDEX ON pawl.timer (owner) WHERE status = 1;
CREATE INDEX ON pawl.timer (processed_at, id) WHERE status >= 2;
CREATE UNIQUE INDEX ON pawl.timer (timer_id) WHERE supplied;
-- One pending timer a key. Whoever schedules a key again takes it from a claimed one.
CREATE UNIQUE INDEX ON pawl.timer (key) WHERE key IS NOT NULL AND status < 2;

-- Wake the schedulers if one may sleep past p_at: not if they are to wake before
-- it anyway. Only the schedulers listen to this queue, which no message can name.
CREATE FUNCTION pawl.timer_wake(p_at timestamptz) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  IF p_at <= v_now OR NOT EXISTS (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > v_now AND t.at < p_at) THEN
    PERFORM pawl.outbox_wake(ARRAY['']);
  END IF;
END $f$;

-- Schedule timers; arrays of equal length, or null where none has the field. A
-- pending timer of the same key is replaced: cancelled, or parted from its key if
-- somebody is firing it already. A known id changes nothing, neither itself nor
-- the timer that has its key by now; of one that comes twice the first counts.
CREATE FUNCTION pawl.timer_schedule_rows(p_id bigint[], p_timer uuid[], p_topic text[], p_correlation text[], p_headers text[], p_payload bytea[], p_lane bigint[],
  p_due timestamptz[], p_supplied boolean[], p_position bigint[], p_key text[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_key   text;
  v_fresh bigint[];
BEGIN
  FOR v_key IN SELECT DISTINCT k FROM unnest(p_key) k WHERE k IS NOT NULL ORDER BY k LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('pawl.timer/' || v_key, 0));
  END LOOP;
  v_fresh := ARRAY(
    SELECT DISTINCT ON (u.timer) u.id FROM unnest(p_id, p_timer, p_position) WITH ORDINALITY u(id, timer, position, nr)
     WHERE NOT EXISTS (SELECT FROM pawl.timer x WHERE x.id = u.position AND x.timer_id = u.timer)
       AND NOT EXISTS (SELECT FROM pawl.timer x WHERE x.timer_id = u.timer AND x.supplied)
     ORDER BY u.timer, u.nr);
  IF p_key IS NOT NULL THEN
    UPDATE pawl.timer t SET status = CASE t.status WHEN 0 THEN 4 ELSE t.status END, processed_at = CASE t.status WHEN 0 THEN clock_timestamp() END,
           key = CASE t.status WHEN 0 THEN t.key END
      FROM unnest(p_id, p_key) u(id, key) WHERE u.id = ANY (v_fresh) AND t.key = u.key AND t.key IS NOT NULL AND t.status < 2;
  END IF;
  INSERT INTO pawl.timer (id, timer_id, supplied, key, due_time, at, lane, topic, correlation_id, headers, payload)
  SELECT u.id, u.timer, u.supplied, u.key, u.due, u.due, u.lane, u.topic, u.correlation, u.headers, u.payload
    FROM unnest(p_id, p_timer, p_supplied, p_key, p_due, p_lane, p_topic, p_correlation, p_headers, p_payload)
      u(id, timer, supplied, key, due, lane, topic, correlation, headers, payload)
   WHERE u.id = ANY (v_fresh)
  ON CONFLICT DO NOTHING;
  PERFORM pawl.timer_wake((SELECT min(d) FROM unnest(p_due) d));
END $f$;

-- Where an id, if pawl made it, says that its timer lies.
CREATE FUNCTION pawl.timer_carried(p_timer uuid) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  RETURN ('x' || right(p_timer::text, 12))::bit(48)::bigint;
END $f$;

-- Where a timer lies, or null.
CREATE FUNCTION pawl.timer_position(p_timer uuid) RETURNS bigint LANGUAGE plpgsql STABLE AS $f$
DECLARE
  v_id bigint := pawl.timer_carried(p_timer);
BEGIN
  IF EXISTS (SELECT FROM pawl.timer t WHERE t.id = v_id AND t.timer_id = p_timer) THEN
    RETURN v_id;
  END IF;
  SELECT t.id INTO v_id FROM pawl.timer t WHERE t.timer_id = p_timer AND t.supplied;
  RETURN v_id;
END $f$;

-- Let a pending timer fire at another time. Returns 1, or 0 if it is not pending.
CREATE FUNCTION pawl.timer_move(p_timer uuid, p_due timestamptz) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  UPDATE pawl.timer t SET due_time = p_due, at = p_due WHERE t.id = (SELECT pawl.timer_position(p_timer)) AND t.status = 0;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM pawl.timer_wake(p_due);
  RETURN 1;
END $f$;

-- Put claimed timers back whose lease has run out (D-73). That counts as a failed
-- attempt, as in the outbox.
CREATE FUNCTION pawl.timer_reap() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_got bigint;
BEGIN
  WITH back AS (
    UPDATE pawl.timer t SET status = 0, at = v_now, retry_count = t.retry_count + 1, owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = 'lease expired'
     WHERE t.id = ANY (ARRAY(SELECT x.id FROM pawl.timer x WHERE x.status = 1 AND x.locked_until < v_now ORDER BY x.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED)) RETURNING 1)
  SELECT count(*) INTO v_got FROM back;
  IF v_got > 0 THEN
    PERFORM pawl.timer_wake(v_now);
  END IF;
  RETURN v_got;
END $f$;

-- Move up to p_n due timers into the outbox, in one transaction with their end
-- here (D-71), so that a crash leaves each in one place. They are claimable at
-- once, wherever in the past they were due, and neighbours become one run. A
-- supplied id that the outbox knows adds no second message.
CREATE FUNCTION pawl.timer_dispatch(p_n integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now    timestamptz := clock_timestamp();
  v_got    bigint;
  v_queues text[];
BEGIN
  WITH due AS MATERIALIZED (
    SELECT t.* FROM pawl.timer t WHERE t.status = 0 AND t.at <= v_now ORDER BY t.at, t.id LIMIT p_n FOR NO KEY UPDATE SKIP LOCKED),
  over AS (
    UPDATE pawl.timer t SET status = 2, processed_at = v_now, payload = '' WHERE t.id = ANY (ARRAY(SELECT due.id FROM due)) RETURNING 1),
  m AS (
    INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
    SELECT due.id, due.timer_id, due.supplied, due.lane, due.due_time, due.topic, due.correlation_id, due.headers, due.payload FROM due
    ON CONFLICT DO NOTHING RETURNING id, lane),
  r AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n)
    SELECT s.lane, v_now, min(s.id), count(*) FROM (SELECT m.lane, m.id, m.id - row_number() OVER (PARTITION BY m.lane ORDER BY m.id) AS island FROM m) s
     GROUP BY s.lane, s.island RETURNING lane)
  SELECT (SELECT count(*) FROM over), ARRAY(SELECT DISTINCT l.queue FROM r JOIN pawl.outbox_lane l ON l.id = r.lane) INTO v_got, v_queues;
  IF cardinality(v_queues) > 0 THEN
    PERFORM pawl.outbox_wake(v_queues);
  END IF;
  RETURN v_got;
END $f$;

-- Take up to p_n due timers under a lease, to fire them in a way of one's own.
CREATE FUNCTION pawl.timer_claim_rows(p_owner uuid, p_lease interval, p_n integer) RETURNS SETOF pawl.timer LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  PERFORM pawl.timer_reap();
  v_ids := ARRAY(
    SELECT t.id FROM pawl.timer t WHERE t.status = 0 AND t.at <= clock_timestamp() ORDER BY t.at, t.id LIMIT p_n FOR NO KEY UPDATE SKIP LOCKED);
  RETURN QUERY
  UPDATE pawl.timer t SET status = 1, owner = p_owner, claimed_at = clock_timestamp(), locked_until = clock_timestamp() + p_lease WHERE t.id = ANY (v_ids) RETURNING t.*;
END $f$;

-- Put claimed timers back for another attempt, after a delay (null: backoff).
CREATE FUNCTION pawl.timer_abandon_rows(p_owner uuid, p_timers uuid[], p_delay interval, p_error text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
  v_at  timestamptz;
BEGIN
  WITH back AS (
    UPDATE pawl.timer t SET status = 0, at = clock_timestamp() + coalesce(p_delay, pawl.outbox_backoff(t.retry_count)), retry_count = t.retry_count + 1,
           owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(p_error, t.last_error)
     WHERE t.status = 1 AND t.owner = p_owner AND t.timer_id = ANY (p_timers) RETURNING t.at)
  SELECT count(*), min(back.at) INTO v_got, v_at FROM back;
  IF v_got > 0 THEN
    PERFORM pawl.timer_wake(v_at);
  END IF;
  RETURN v_got;
END $f$;

-- The seed's Timers table, column for column (D-102). The payload of a
-- dispatched one is in the outbox, under the same id.
CREATE VIEW pawl.timers AS
SELECT t.timer_id AS id, t.due_time, pawl.outbox_text(t.payload) AS payload, t.topic, t.correlation_id, t.status AS status_code, t.locked_until, t.owner AS owner_token,
       CASE t.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'InProgress' WHEN 2 THEN 'Done' ELSE 'Cancelled' END AS status,
       t.owner::text AS claimed_by, t.claimed_at, t.retry_count, t.created_at, t.processed_at, t.last_error,
       t.key, t.headers, l.queue, l.priority
  FROM pawl.timer t JOIN pawl.outbox_lane l ON l.id = t.lane;

-- What follows is for programs in other languages and for triggers.

-- Refuse what neither we nor other programs could read again, as infinity.
CREATE FUNCTION pawl.timer_check_due(due_time timestamptz) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  IF due_time IS NULL THEN
    RAISE EXCEPTION 'due_time: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF due_time < timestamptz '1970-01-01 00:00:00+00' OR due_time >= timestamptz '10000-01-01 00:00:00+00' THEN
    RAISE EXCEPTION 'due_time: within the years 1970 to 9999' USING ERRCODE = 'invalid_parameter_value';
  END IF;
END $f$;

-- Schedule a timer in the caller's transaction. With a key it replaces a pending
-- one of that key. Returns the id, which will be the message's as well.
CREATE FUNCTION pawl.timer_schedule(topic text, payload text, due_time timestamptz, correlation_id text DEFAULT NULL, key text DEFAULT NULL, timer_id uuid DEFAULT NULL,
  headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
DECLARE
  v_id    bigint := nextval('pawl.outbox_single');
  v_timer uuid := coalesce(timer_id, pawl.outbox_message_id(v_id));
BEGIN
  IF coalesce(length(topic), 0) NOT BETWEEN 1 AND 255 OR btrim(topic) = '' THEN
    RAISE EXCEPTION 'topic: 1 to 255 characters, not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'payload: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF coalesce(length(queue), 0) NOT BETWEEN 1 AND 255 OR btrim(queue) = '' OR coalesce(priority, 101) NOT BETWEEN -100 AND 100 THEN
    RAISE EXCEPTION 'queue: 1 to 255 characters, not blank; priority: -100 to 100' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF length(correlation_id) > 255 OR length(key) > 255 OR key <> '' AND btrim(key) = '' THEN
    RAISE EXCEPTION 'correlation_id and key: 255 characters at most; key: not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pawl.timer_check_due(due_time);
  PERFORM pawl.timer_schedule_rows(ARRAY[v_id], ARRAY[v_timer], ARRAY[topic], ARRAY[nullif(correlation_id, '')], ARRAY[headers::text], ARRAY[convert_to(payload, 'UTF8')],
    ARRAY[pawl.outbox_lane_id(queue, priority::smallint)], ARRAY[due_time], ARRAY[timer_id IS NOT NULL],
    ARRAY[CASE WHEN timer_id IS NOT NULL THEN pawl.timer_carried(timer_id) END], ARRAY[nullif(key, '')]);
  RETURN v_timer;
END $f$;

-- Cancel a timer: true means that it will never fire.
CREATE FUNCTION pawl.timer_cancel(timer_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  UPDATE pawl.timer t SET status = 4, processed_at = clock_timestamp() WHERE t.id = (SELECT pawl.timer_position($1)) AND t.status = 0;
  RETURN FOUND;
END $f$;

-- Let a timer fire at another time: false if it fired or was cancelled.
CREATE FUNCTION pawl.timer_reschedule(timer_id uuid, due_time timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  PERFORM pawl.timer_check_due($2);
  RETURN pawl.timer_move($1, $2) = 1;
END $f$;
