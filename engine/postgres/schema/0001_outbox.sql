-- The run layout: see docs/layout.md. "pawl." stands for the configured schema and prefix.

-- One value is a block of 4096 ids for one client process.
CREATE SEQUENCE pawl.outbox_block AS bigint MINVALUE 1 MAXVALUE 34359738367;
-- Ids of messages that are enqueued through SQL, from 2^47 up.
CREATE SEQUENCE pawl.outbox_single AS bigint MINVALUE 140737488355328 MAXVALUE 281474976710655;

-- A lane is a queue at one priority. Its id is a hash of both, so that a
-- producer knows it without asking.
CREATE TABLE pawl.outbox_lane (
  id       bigint PRIMARY KEY,
  queue    text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  UNIQUE (queue, priority)
);
-- md5('default/0'), first 8 bytes: what most programs use is known from the start.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (4828129222919567135, 'default', 0);

-- One row per message, written once and never updated.
CREATE TABLE pawl.outbox_message (
  id             bigint PRIMARY KEY,
  message_id     uuid NOT NULL,
  supplied       boolean NOT NULL DEFAULT false,
  lane           bigint NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at         timestamptz,
  topic          text NOT NULL,
  correlation_id text,
  headers        text,
  payload        bytea NOT NULL
);
-- Ids that callers supplied deduplicate; ids that pawl makes carry their
-- position and need no index.
CREATE UNIQUE INDEX ON pawl.outbox_message (message_id) WHERE supplied;

-- Runs that may be claimed at or after "at".
CREATE TABLE pawl.outbox_ready (
  lane  bigint NOT NULL,
  at    timestamptz NOT NULL,
  lo    bigint NOT NULL UNIQUE,
  n     integer NOT NULL CHECK (n > 0),
  retry integer NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, at, lo)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Runs under lease, with what is needed to put them back.
CREATE TABLE pawl.outbox_claim (
  lo           bigint PRIMARY KEY,
  n            integer NOT NULL CHECK (n > 0),
  lane         bigint NOT NULL,
  at           timestamptz NOT NULL,
  retry        integer NOT NULL,
  owner        uuid NOT NULL,
  locked_until timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Runs that were acked.
CREATE TABLE pawl.outbox_done (
  lo           bigint PRIMARY KEY,
  n            integer NOT NULL CHECK (n > 0),
  processed_at timestamptz NOT NULL,
  owner        uuid NOT NULL,
  processed_by text
);

-- Messages that went wrong at least once. 0: retried, 3: failed, 4: discarded.
CREATE TABLE pawl.outbox_exception (
  id              bigint PRIMARY KEY,
  status          smallint NOT NULL,
  retry_count     integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  last_error      text,
  redrives        integer NOT NULL DEFAULT 0,
  updated_at      timestamptz NOT NULL
);
CREATE INDEX ON pawl.outbox_exception (status, id) WHERE status >= 3;

CREATE TYPE pawl.outbox_run AS (lo bigint, n integer, lane bigint, at timestamptz, retry integer, owner uuid);

-- Tell sleeping workers of these queues that there is work. A worker that
-- sleeps holds its queue's advisory lock: only then is a NOTIFY worth its
-- price (65-70 % of commit throughput if sent by everyone). The shared lock
-- lasts until commit, so that a worker cannot fall asleep in between.
CREATE FUNCTION pawl.outbox_wake(p_queues text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_queue text;
BEGIN
  FOREACH v_queue IN ARRAY p_queues LOOP
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('pawl.outbox_wake/' || v_queue, 0)) THEN
      PERFORM pg_notify('pawl_' || left(md5('pawl.outbox_wake'), 16), v_queue);
    END IF;
  END LOOP;
  RETURN true;
END $f$;

-- Claim up to p_n due messages of a queue. A destructive read of ready in key
-- order; what is locked by someone else is skipped. p_rows: how many ready rows
-- will probably do. p_from: where the live part of the index begins; deleted
-- entries before it would be walked over by every claim while an old snapshot
-- is open. The settings pin the plan: statistics of a queue table lie.
CREATE FUNCTION pawl.outbox_claim_runs(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz)
RETURNS TABLE (id bigint, message_id uuid, topic text, correlation_id text, headers text, payload bytea, created_at timestamptz, due_at timestamptz,
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
#variable_conflict use_column
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_need integer := p_n;
  v_got  integer;
  v_take integer;
  v_lane record;
BEGIN
  FOR v_lane IN SELECT l.id, l.priority FROM pawl.outbox_lane l WHERE l.queue = p_queue ORDER BY l.queue, l.priority LOOP
    v_take := greatest(1, least(p_rows, v_need));
    LOOP
      RETURN QUERY
      WITH look AS MATERIALIZED (
        SELECT r.ctid AS tid, r.at, r.lo, r.n FROM pawl.outbox_ready r
         WHERE r.lane = v_lane.id AND r.at >= p_from AND r.at <= v_now
         ORDER BY r.at, r.lo LIMIT v_take FOR UPDATE SKIP LOCKED),
      pick AS MATERIALIZED (
        SELECT look.tid, sum(look.n) OVER (ORDER BY look.at, look.lo) - look.n AS before FROM look),
      gone AS (
        DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT pick.tid FROM pick WHERE pick.before < v_need))
        RETURNING r.at, r.lo, r.n, r.retry),
      cut AS MATERIALIZED (
        SELECT gone.at, gone.lo, gone.n, gone.retry,
               least(gone.n, v_need - (sum(gone.n) OVER (ORDER BY gone.at, gone.lo) - gone.n))::integer AS m FROM gone),
      rest AS (
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
        SELECT v_lane.id, cut.at, cut.lo + cut.m, cut.n - cut.m, cut.retry FROM cut WHERE cut.m < cut.n),
      runs AS MATERIALIZED (
        SELECT min(s.at) AS at, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
          FROM (SELECT cut.at, cut.lo, cut.m, cut.retry, cut.lo - (sum(cut.m) OVER (PARTITION BY cut.retry ORDER BY cut.lo) - cut.m) AS island FROM cut) s
         GROUP BY s.retry, s.island),
      used AS MATERIALIZED (SELECT avg(gone.n)::integer AS length FROM gone),
      held AS (
        INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
        SELECT runs.lo, runs.n, v_lane.id, runs.at, runs.retry, p_owner, v_now + p_lease FROM runs)
      SELECT m.id, m.message_id, m.topic, m.correlation_id, m.headers, m.payload, m.created_at, m.due_at,
             runs.retry, v_lane.priority, v_now + p_lease, runs.at, used.length
        FROM used, runs, LATERAL (SELECT * FROM pawl.outbox_message x WHERE x.id >= runs.lo AND x.id < runs.lo + runs.n) m;
      GET DIAGNOSTICS v_got = ROW_COUNT;
      v_need := v_need - v_got;
      EXIT WHEN v_got = 0 OR v_need <= 0;
      v_take := least(v_need, v_need::bigint * v_take / v_got + 1);
    END LOOP;
    EXIT WHEN v_need <= 0;
  END LOOP;
END $f$;

-- Take ids p_lo … p_lo + p_n - 1 out of what p_owner has claimed and return
-- exactly what was taken. A run that someone else moves meanwhile makes the
-- delete find nothing; the next look has a fresh snapshot and sees where it
-- went, so nothing is missed and nothing taken twice.
CREATE FUNCTION pawl.outbox_take(p_owner uuid, p_lo bigint, p_n integer) RETURNS SETOF pawl.outbox_run LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  v_at  bigint := p_lo;
  v_end bigint := p_lo + p_n;
  v_run pawl.outbox_claim;
  v_cut bigint;
BEGIN
  WHILE v_at < v_end LOOP
    SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo <= v_at ORDER BY c.lo DESC LIMIT 1;
    IF NOT FOUND OR v_run.lo + v_run.n <= v_at THEN
      SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo > v_at AND c.lo < v_end ORDER BY c.lo LIMIT 1;
      EXIT WHEN NOT FOUND;
    END IF;
    IF v_run.owner <> p_owner THEN
      v_at := v_run.lo + v_run.n;
      CONTINUE;
    END IF;
    DELETE FROM pawl.outbox_claim c WHERE c.lo = v_run.lo AND c.n = v_run.n AND c.owner = p_owner RETURNING * INTO v_run;
    CONTINUE WHEN NOT FOUND;
    v_at := greatest(v_at, v_run.lo);
    v_cut := least(v_end, v_run.lo + v_run.n);
    IF v_run.lo < v_at THEN
      INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
      VALUES (v_run.lo, v_at - v_run.lo, v_run.lane, v_run.at, v_run.retry, v_run.owner, v_run.locked_until);
    END IF;
    IF v_cut < v_run.lo + v_run.n THEN
      INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
      VALUES (v_cut, v_run.lo + v_run.n - v_cut, v_run.lane, v_run.at, v_run.retry, v_run.owner, v_run.locked_until);
    END IF;
    RETURN NEXT (v_at, (v_cut - v_at)::integer, v_run.lane, v_run.at, v_run.retry, v_run.owner)::pawl.outbox_run;
    v_at := v_cut;
  END LOOP;
END $f$;

-- Ack runs. Claimed runs that lie wholly inside a requested one go at once;
-- only if that did not cover everything does the slow path look for the rest.
CREATE FUNCTION pawl.outbox_ack_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_by text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_got  bigint;
  v_more bigint;
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_claim c USING unnest(p_owner, p_lo, p_n) r(owner, lo, n)
     WHERE c.lo >= r.lo AND c.lo < r.lo + r.n AND c.lo + c.n <= r.lo + r.n AND c.owner = r.owner RETURNING c.lo, c.n, c.owner),
  kept AS (
    INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
    SELECT gone.lo, gone.n, clock_timestamp(), gone.owner, p_by FROM gone)
  SELECT coalesce(sum(gone.n), 0) INTO v_got FROM gone;
  IF v_got < (SELECT sum(n) FROM unnest(p_n) n) THEN
    WITH kept AS (
      INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
      SELECT t.lo, t.n, clock_timestamp(), t.owner, p_by
        FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) t RETURNING n)
    SELECT coalesce(sum(kept.n), 0) INTO v_more FROM kept;
    v_got := v_got + v_more;
  END IF;
  RETURN v_got;
END $f$;

-- Backoff after so many retries: 1, 2, 4, … 60 s (D-14).
CREATE FUNCTION pawl.outbox_backoff(p_retry integer) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  RETURN make_interval(secs => least(power(2, least(p_retry, 6)), 60));
END $f$;

-- Abandon runs: back to ready with one more retry, after a delay (null: backoff).
CREATE FUNCTION pawl.outbox_abandon_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[], p_error text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, x.retry, r.error, clock_timestamp() + coalesce(r.delay, pawl.outbox_backoff(x.retry)) AS at
      FROM unnest(p_owner, p_lo, p_n, p_delay, p_error) r(owner, lo, n, delay, error), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT i, 0, t.retry + 1, t.at, t.error, clock_timestamp() FROM t, generate_series(t.lo, t.lo + t.n - 1) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = coalesce(excluded.last_error, e.last_error), updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry + 1 FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Fail runs for good.
CREATE FUNCTION pawl.outbox_fail_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_error text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.retry, r.error
      FROM unnest(p_owner, p_lo, p_n, p_error) r(owner, lo, n, error), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, last_error, updated_at)
    SELECT i, 3, t.retry, t.error, clock_timestamp() FROM t, generate_series(t.lo, t.lo + t.n - 1) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 3, retry_count = excluded.retry_count, next_attempt_at = NULL,
      last_error = coalesce(excluded.last_error, e.last_error), updated_at = excluded.updated_at)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Release runs: back to ready without counting an attempt, at once or after a delay.
CREATE FUNCTION pawl.outbox_release_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_delay interval[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, x.lane, x.retry, CASE WHEN r.delay > interval '0' THEN clock_timestamp() + r.delay ELSE x.at END AS at
      FROM unnest(p_owner, p_lo, p_n, p_delay) r(owner, lo, n, delay), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, t.at, t.lo, t.n, t.retry FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Extend the lease of runs, counted from when their locks are held: a lease
-- computed before a wait could be over when it begins. Only ids asked for live
-- longer; runs that are asked for in part are split.
CREATE FUNCTION pawl.outbox_extend_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_lease interval) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_lo  bigint[];
  v_got bigint;
BEGIN
  SELECT array_agg(held.lo), coalesce(sum(held.n), 0) INTO v_lo, v_got FROM (
    SELECT c.lo, c.n FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), pawl.outbox_claim c
     WHERE c.lo >= r.lo AND c.lo < r.lo + r.n AND c.lo + c.n <= r.lo + r.n AND c.owner = r.owner ORDER BY c.lo FOR UPDATE OF c) held;
  IF v_got = (SELECT sum(n) FROM unnest(p_n) n) THEN
    UPDATE pawl.outbox_claim c SET locked_until = clock_timestamp() + p_lease WHERE c.lo = ANY (v_lo);
    RETURN v_got;
  END IF;
  WITH t AS MATERIALIZED (
    SELECT x.* FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  back AS (
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
    SELECT t.lo, t.n, t.lane, t.at, t.retry, t.owner, clock_timestamp() + p_lease FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Put up to p_runs runs whose lease has run out back into ready. That counts as
-- a failed attempt: a message that kills its worker must end as failed (D-12).
CREATE FUNCTION pawl.outbox_reap_runs(p_runs integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET jit = off AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_got bigint;
BEGIN
  WITH t AS (
    DELETE FROM pawl.outbox_claim c WHERE c.ctid = ANY (ARRAY(
      SELECT x.ctid FROM pawl.outbox_claim x WHERE x.locked_until < v_now ORDER BY x.lo LIMIT p_runs FOR UPDATE SKIP LOCKED))
    RETURNING c.lo, c.n, c.lane, c.retry),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT i, 0, t.retry + 1, v_now, 'lease expired', v_now FROM t, generate_series(t.lo, t.lo + t.n - 1) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = excluded.last_error, updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT t.lane, v_now, t.lo, t.n, t.retry + 1 FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;

-- Every message with its place. Each place is one predecessor probe.
CREATE VIEW pawl.outbox_item AS
SELECT m.id, m.message_id, m.topic, m.correlation_id, m.headers, m.payload, m.created_at, m.due_at,
       l.queue, l.priority,
       CASE WHEN r.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 ELSE coalesce(e.status, 0) END::smallint AS status,
       coalesce(r.retry, c.retry, e.retry_count, 0) AS retry_count,
       coalesce(r.at, c.at, e.next_attempt_at, m.due_at, m.created_at) AS next_attempt_at,
       c.locked_until, c.owner AS owner_token, d.processed_at, d.processed_by,
       e.last_error, coalesce(e.redrives, 0) AS redrives
  FROM pawl.outbox_message m
  JOIN pawl.outbox_lane l ON l.id = m.lane
  LEFT JOIN pawl.outbox_ready r ON r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id
  LEFT JOIN pawl.outbox_claim c ON c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= m.id) AND c.lo + c.n > m.id
  LEFT JOIN pawl.outbox_done  d ON d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= m.id) AND d.lo + d.n > m.id
  LEFT JOIN pawl.outbox_exception e ON e.id = m.id;

-- Bytes as text where they are text, as \x… hex elsewhere.
CREATE FUNCTION pawl.outbox_text(p_payload bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  RETURN convert_from(p_payload, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
  RETURN p_payload::text;
END $f$;

-- The seed's Outbox table, column for column (D-102).
CREATE VIEW pawl.outbox AS
SELECT i.id, i.topic, pawl.outbox_text(i.payload) AS payload, i.created_at, i.status, i.locked_until, i.owner_token, i.status = 2 AS is_processed,
       i.processed_at, i.processed_by, i.retry_count, i.last_error, i.next_attempt_at, i.message_id, i.correlation_id, i.due_at AS due_time_utc,
       i.headers, i.queue, i.priority
  FROM pawl.outbox_item i;

-- What follows is for programs in other languages and for triggers: they take
-- part in their own transaction with one call.

-- Ids as the runs that the functions above take.
CREATE FUNCTION pawl.outbox_runs(p_ids bigint[], OUT o_lo bigint[], OUT o_n integer[]) LANGUAGE plpgsql IMMUTABLE AS $f$
BEGIN
  SELECT coalesce(array_agg(s.lo ORDER BY s.lo), '{}'), coalesce(array_agg(s.n ORDER BY s.lo), '{}') INTO o_lo, o_n
    FROM (SELECT min(u.id) AS lo, count(*)::integer AS n
            FROM (SELECT d.id, d.id - row_number() OVER (ORDER BY d.id) AS island FROM (SELECT DISTINCT unnest(p_ids) AS id) d) u GROUP BY u.island) s;
END $f$;

-- A message id that carries its position: UUID version 8, see docs/layout.md.
CREATE FUNCTION pawl.outbox_message_id(p_id bigint) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || '8' || lpad(to_hex((random() * 4095)::integer), 3, '0')
    || to_hex(32768 + (random() * 16383)::integer)
    || lpad(to_hex(p_id), 12, '0'))::uuid;
END $f$;

-- The lane of a queue at a priority, made known if it is new.
CREATE FUNCTION pawl.outbox_lane_id(p_queue text, p_priority smallint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_id bigint;
BEGIN
  SELECT l.id INTO v_id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.priority = p_priority;
  IF v_id IS NULL THEN
    v_id := ('x' || left(md5(p_queue || '/' || p_priority), 16))::bit(64)::bigint;
    INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (v_id, p_queue, p_priority) ON CONFLICT (queue, priority) DO NOTHING;
  END IF;
  RETURN v_id;
END $f$;

-- Enqueue one message in the caller's transaction. Supplying the same
-- message_id again adds nothing. Returns the message id.
CREATE FUNCTION pawl.outbox_enqueue(topic text, payload text, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
DECLARE
  v_id   bigint;
  v_mid  uuid := message_id;
  v_lane bigint;
BEGIN
  IF coalesce(length(topic), 0) NOT BETWEEN 1 AND 255 OR btrim(topic) = '' THEN
    RAISE EXCEPTION 'topic: 1 to 255 characters, not blank' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'payload: null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF length(correlation_id) > 255 OR length(queue) NOT BETWEEN 1 AND 255 OR priority NOT BETWEEN -100 AND 100 THEN
    RAISE EXCEPTION 'correlation_id and queue: 255 characters at most; priority: -100 to 100' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  v_lane := pawl.outbox_lane_id(queue, priority::smallint);
  v_id := nextval('pawl.outbox_single');
  IF v_mid IS NULL THEN
    v_mid := pawl.outbox_message_id(v_id);
  END IF;
  INSERT INTO pawl.outbox_message AS m (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload)
  VALUES (v_id, v_mid, message_id IS NOT NULL, v_lane, due_time_utc, topic, nullif(correlation_id, ''), headers::text, convert_to(payload, 'UTF8'))
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (v_lane, coalesce(due_time_utc, clock_timestamp()), v_id, 1);
    PERFORM pawl.outbox_wake(ARRAY[queue]);
  END IF;
  RETURN v_mid;
END $f$;

CREATE FUNCTION pawl.outbox_enqueue(topic text, payload jsonb, correlation_id text DEFAULT NULL, due_time_utc timestamptz DEFAULT NULL,
  message_id uuid DEFAULT NULL, headers jsonb DEFAULT NULL, queue text DEFAULT 'default', priority integer DEFAULT 0)
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN pawl.outbox_enqueue($1, $2::text, $3, $4, $5, $6, $7, $8);
END $f$;

-- Claim for a worker in another language.
CREATE FUNCTION pawl.outbox_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50, queue text DEFAULT 'default')
RETURNS TABLE (id bigint, message_id uuid, topic text, payload text, correlation_id text, headers text, created_at timestamptz, due_time_utc timestamptz, retry_count integer)
LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
BEGIN
  PERFORM pawl.outbox_reap_runs(100);
  RETURN QUERY SELECT c.id, c.message_id, c.topic, pawl.outbox_text(c.payload), c.correlation_id, c.headers, c.created_at, c.due_at, c.retry
    FROM pawl.outbox_claim_runs(queue, owner_token, make_interval(secs => lease_seconds), batch_size, batch_size, '-infinity') c;
END $f$;

CREATE FUNCTION pawl.outbox_ack(owner_token uuid, ids bigint[], processed_by text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  r record;
BEGIN
  r := pawl.outbox_runs(ids);
  RETURN pawl.outbox_ack_runs(array_fill(owner_token, ARRAY[cardinality(r.o_lo)]), r.o_lo, r.o_n, processed_by);
END $f$;

CREATE FUNCTION pawl.outbox_abandon(owner_token uuid, ids bigint[], error text DEFAULT NULL, delay interval DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_abandon_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(delay, k), array_fill(error, k));
END $f$;

CREATE FUNCTION pawl.outbox_fail(owner_token uuid, ids bigint[], error text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_fail_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(error, k));
END $f$;

CREATE FUNCTION pawl.outbox_release(owner_token uuid, ids bigint[], delay interval DEFAULT interval '0') RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  r record;
  k integer[];
BEGIN
  r := pawl.outbox_runs(ids);
  k := ARRAY[cardinality(r.o_lo)];
  RETURN pawl.outbox_release_runs(array_fill(owner_token, k), r.o_lo, r.o_n, array_fill(delay, k));
END $f$;

CREATE FUNCTION pawl.outbox_extend(owner_token uuid, ids bigint[], lease_seconds integer) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  r record;
BEGIN
  r := pawl.outbox_runs(ids);
  RETURN pawl.outbox_extend_runs(array_fill(owner_token, ARRAY[cardinality(r.o_lo)]), r.o_lo, r.o_n, make_interval(secs => lease_seconds));
END $f$;

CREATE FUNCTION pawl.outbox_reap_expired() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_got bigint;
  v_all bigint := 0;
BEGIN
  LOOP
    v_got := pawl.outbox_reap_runs(1000);
    v_all := v_all + v_got;
    EXIT WHEN v_got = 0;
  END LOOP;
  RETURN v_all;
END $f$;
