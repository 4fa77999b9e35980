-- Joins: see docs/joins.md. The seed's OutboxJoin and OutboxJoinMember.
-- Locks are always taken in the same order: what holds a message (by id), then
-- joins (by id); members change only under their join's lock (D-39).

CREATE TABLE pawl.outbox_join (
  join_id          uuid PRIMARY KEY,
  grouping_key     text,
  expected_steps   integer NOT NULL CHECK (expected_steps > 0),
  completed_steps  integer NOT NULL DEFAULT 0,
  failed_steps     integer NOT NULL DEFAULT 0,
  status           smallint NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed, 3 cancelled
  created_utc      timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_updated_utc timestamptz NOT NULL DEFAULT clock_timestamp(),
  metadata         text,
  deadline_utc     timestamptz,
  CHECK (completed_steps + failed_steps <= expected_steps)
) WITH (fillfactor = 70); -- counters are updated in place
CREATE INDEX ON pawl.outbox_join (grouping_key, join_id) WHERE grouping_key IS NOT NULL;
CREATE INDEX ON pawl.outbox_join (status, join_id);

-- id is the message's position: ack and fail look for members by runs. The
-- index holds no status, so that counting a member is an update in place.
CREATE TABLE pawl.outbox_join_member (
  join_id           uuid NOT NULL REFERENCES pawl.outbox_join ON DELETE CASCADE,
  outbox_message_id uuid NOT NULL,
  id                bigint NOT NULL,
  status            smallint NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed
  created_utc       timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (join_id, outbox_message_id)
) WITH (fillfactor = 80);
CREATE INDEX ON pawl.outbox_join_member (id);

-- The join.wait messages of a join, by position.
CREATE TABLE pawl.outbox_join_wait (
  id      bigint PRIMARY KEY,
  join_id uuid NOT NULL REFERENCES pawl.outbox_join ON DELETE CASCADE
);
CREATE INDEX ON pawl.outbox_join_wait (join_id);

-- Make the waits of joins that are over due at once, wherever in the future
-- they are put back to (D-33).
CREATE FUNCTION pawl.outbox_join_wake(p_joins uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_queues text[];
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_ready r
     WHERE r.lo = ANY (ARRAY(SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = ANY (p_joins))) AND r.n = 1 AND r.at > clock_timestamp()
    RETURNING r.lane, r.lo, r.retry),
  back AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT gone.lane, clock_timestamp(), gone.lo, 1, gone.retry FROM gone)
  SELECT array_agg(DISTINCT l.queue) INTO v_queues FROM gone JOIN pawl.outbox_lane l ON l.id = gone.lane;
  IF v_queues IS NOT NULL THEN
    PERFORM pawl.outbox_wake(v_queues);
  END IF;
END $f$;

-- Add to the counters of joins whose locks are held. The last step ends a join.
CREATE FUNCTION pawl.outbox_join_add(p_joins uuid[], p_completed integer[], p_failed integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_over uuid[];
BEGIN
  WITH u AS (
    UPDATE pawl.outbox_join j
       SET completed_steps = j.completed_steps + a.completed, failed_steps = j.failed_steps + a.failed, last_updated_utc = clock_timestamp(),
           status = CASE WHEN j.completed_steps + a.completed + j.failed_steps + a.failed < j.expected_steps THEN 0
                         WHEN j.failed_steps + a.failed > 0 THEN 2 ELSE 1 END
      FROM unnest(p_joins, p_completed, p_failed) a(id, completed, failed) WHERE j.join_id = a.id RETURNING j.join_id, j.status)
  SELECT array_agg(u.join_id) INTO v_over FROM u WHERE u.status <> 0;
  IF v_over IS NOT NULL THEN
    PERFORM pawl.outbox_join_wake(v_over);
  END IF;
END $f$;

-- Count what has become of messages in their joins. The places of the messages
-- say what that is. To be called after they were moved, or while they are held,
-- in a statement of its own: only a fresh snapshot shows a member that was
-- attached while the move waited for it. What ran before the locks were held
-- may have been counted meanwhile, so the members are read again.
CREATE FUNCTION pawl.outbox_join_settle(p_lo bigint[], p_n integer[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_joins     uuid[];
  v_completed integer[];
  v_failed    integer[];
BEGIN
  v_joins := ARRAY(
    SELECT DISTINCT m.join_id FROM unnest(p_lo, p_n) r(lo, n),
      LATERAL (SELECT x.join_id FROM pawl.outbox_join_member x WHERE x.id >= r.lo AND x.id < r.lo + r.n AND x.status = 0 OFFSET 0) m);
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins) AND j.status = 0 ORDER BY j.join_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  WITH step AS MATERIALIZED (
    SELECT m.join_id, m.outbox_message_id, CASE WHEN d.lo IS NOT NULL THEN 1 ELSE 2 END AS status,
           row_number() OVER (PARTITION BY m.join_id ORDER BY m.id) AS nth
      FROM unnest(p_lo, p_n) r(lo, n)
     CROSS JOIN LATERAL (SELECT x.* FROM pawl.outbox_join_member x WHERE x.id >= r.lo AND x.id < r.lo + r.n AND x.status = 0 OFFSET 0) m
      LEFT JOIN pawl.outbox_done d ON d.lo = (SELECT max(x.lo) FROM pawl.outbox_done x WHERE x.lo <= m.id) AND d.lo + d.n > m.id
      LEFT JOIN pawl.outbox_exception e ON e.id = m.id AND e.status >= 3
     WHERE d.lo IS NOT NULL OR e.id IS NOT NULL),
  counted AS (
    UPDATE pawl.outbox_join_member m SET status = step.status
      FROM step JOIN pawl.outbox_join j ON j.join_id = step.join_id AND j.status = 0
     WHERE m.join_id = step.join_id AND m.outbox_message_id = step.outbox_message_id
       AND step.nth <= j.expected_steps - j.completed_steps - j.failed_steps
    RETURNING m.join_id, m.status)
  SELECT array_agg(s.join_id), array_agg(s.completed), array_agg(s.failed) INTO v_joins, v_completed, v_failed
    FROM (SELECT c.join_id, count(*) FILTER (WHERE c.status = 1)::integer AS completed, count(*) FILTER (WHERE c.status = 2)::integer AS failed
            FROM counted c GROUP BY c.join_id) s;
  IF v_joins IS NOT NULL THEN
    PERFORM pawl.outbox_join_add(v_joins, v_completed, v_failed);
  END IF;
END $f$;

-- Ack and fail, and count in joins. p_also_…: runs that this transaction failed
-- without counting: settling both in one go takes every lock on messages before
-- any on a join. Whether there are members to count is asked by the statement
-- that adds up what was asked for, after the move: a program without joins pays
-- for a probe per run.
DROP FUNCTION pawl.outbox_ack_runs(uuid[], bigint[], integer[], text);
CREATE FUNCTION pawl.outbox_ack_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_by text, p_also_lo bigint[] DEFAULT '{}', p_also_n integer[] DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_got     bigint;
  v_more    bigint;
  v_asked   bigint;
  v_members boolean;
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_claim c USING unnest(p_owner, p_lo, p_n) r(owner, lo, n)
     WHERE c.lo >= r.lo AND c.lo < r.lo + r.n AND c.lo + c.n <= r.lo + r.n AND c.owner = r.owner RETURNING c.lo, c.n, c.owner),
  kept AS (
    INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
    SELECT gone.lo, gone.n, clock_timestamp(), gone.owner, p_by FROM gone)
  SELECT coalesce(sum(gone.n), 0) INTO v_got FROM gone;
  SELECT coalesce(sum(r.n), 0), coalesce(bool_or(EXISTS (
           SELECT FROM pawl.outbox_join_member m WHERE m.id >= r.lo AND m.id < r.lo + r.n AND m.status = 0)), false)
    INTO v_asked, v_members FROM unnest(p_lo, p_n) r(lo, n);
  IF v_got < v_asked THEN
    WITH kept AS (
      INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by)
      SELECT t.lo, t.n, clock_timestamp(), t.owner, p_by
        FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) t RETURNING n)
    SELECT coalesce(sum(kept.n), 0) INTO v_more FROM kept;
    v_got := v_got + v_more;
    v_members := true; -- the look above is older than these moves
  END IF;
  IF v_members OR cardinality(p_also_lo) > 0 THEN
    PERFORM pawl.outbox_join_settle(p_lo || p_also_lo, p_n || p_also_n);
  END IF;
  RETURN v_got;
END $f$;

DROP FUNCTION pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[]);
CREATE FUNCTION pawl.outbox_fail_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_error text[], p_count boolean DEFAULT true)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET jit = off AS $f$
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
  IF p_count THEN
    PERFORM pawl.outbox_join_settle(p_lo, p_n);
  END IF;
  RETURN v_got;
END $f$;

-- A lease can be extended while somebody attaches its messages to a join: the
-- key of the run stays, so the weaker lock will do.
CREATE OR REPLACE FUNCTION pawl.outbox_extend_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_lease interval) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
DECLARE
  v_lo  bigint[];
  v_got bigint;
BEGIN
  SELECT array_agg(held.lo), coalesce(sum(held.n), 0) INTO v_lo, v_got FROM (
    SELECT c.lo, c.n FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n), pawl.outbox_claim c
     WHERE c.lo >= r.lo AND c.lo < r.lo + r.n AND c.lo + c.n <= r.lo + r.n AND c.owner = r.owner ORDER BY c.lo FOR NO KEY UPDATE OF c) held;
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

-- Give failed messages a fresh start, oldest first, and take their failures back
-- in joins that are still pending (D-38).
CREATE FUNCTION pawl.outbox_redrive(p_ids bigint[], p_topic text, p_n bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SET jit = off AS $f$
DECLARE
  v_ids    bigint[];
  v_queues text[];
BEGIN
  WITH e AS (
    UPDATE pawl.outbox_exception e SET status = 0, retry_count = 0, next_attempt_at = clock_timestamp(), redrives = e.redrives + 1, updated_at = clock_timestamp()
     WHERE e.id = ANY (ARRAY(
       SELECT x.id FROM pawl.outbox_exception x JOIN pawl.outbox_message m ON m.id = x.id
        WHERE x.status >= 3 AND x.status = 3 AND (p_ids IS NULL OR x.id = ANY (p_ids)) AND (p_topic IS NULL OR m.topic = p_topic)
        ORDER BY x.id LIMIT p_n FOR UPDATE OF x)) AND e.status = 3 RETURNING e.id),
  m AS (
    SELECT e.id, m.lane, l.queue FROM e JOIN pawl.outbox_message m ON m.id = e.id JOIN pawl.outbox_lane l ON l.id = m.lane),
  r AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, clock_timestamp(), m.id, 1 FROM m)
  SELECT array_agg(m.id), array_agg(DISTINCT m.queue) INTO v_ids, v_queues FROM m;
  IF v_ids IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM pawl.outbox_join_reopen(v_ids);
  PERFORM pawl.outbox_wake(v_queues);
  RETURN cardinality(v_ids);
END $f$;

CREATE FUNCTION pawl.outbox_join_reopen(p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_joins uuid[];
BEGIN
  v_joins := ARRAY(SELECT DISTINCT m.join_id FROM pawl.outbox_join_member m WHERE m.id = ANY (p_ids) AND m.status = 2);
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins) AND j.status = 0 ORDER BY j.join_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  WITH back AS (
    UPDATE pawl.outbox_join_member m SET status = 0 FROM pawl.outbox_join j
     WHERE m.id = ANY (p_ids) AND m.status = 2 AND j.join_id = m.join_id AND j.status = 0 AND j.join_id = ANY (v_joins) RETURNING m.join_id)
  UPDATE pawl.outbox_join j SET failed_steps = j.failed_steps - s.n, last_updated_utc = clock_timestamp()
    FROM (SELECT back.join_id, count(*)::integer AS n FROM back GROUP BY back.join_id) s WHERE j.join_id = s.join_id;
END $f$;

-- Where a message lies, or null. Ids that pawl makes say so themselves.
CREATE FUNCTION pawl.outbox_position(p_message uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_id bigint := ('x' || right(p_message::text, 12))::bit(48)::bigint;
BEGIN
  IF EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id = v_id AND m.message_id = p_message) THEN
    RETURN v_id;
  END IF;
  SELECT m.id INTO v_id FROM pawl.outbox_message m WHERE m.message_id = p_message AND m.supplied;
  RETURN v_id;
END $f$;

-- Hold messages where they are until the transaction ends (layout rule 7). A run
-- that is being moved makes us wait and then is gone; the next look, with a
-- fresh snapshot, finds where it went. Tells which of them are settled, and the
-- first that is no longer anywhere.
CREATE FUNCTION pawl.outbox_hold(p_ids bigint[], OUT o_settled bigint[], OUT o_gone bigint) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  v_id      bigint;
  v_end     bigint := 0;
  v_settled boolean;
BEGIN
  FOREACH v_id IN ARRAY ARRAY(SELECT DISTINCT u.id FROM unnest(p_ids) u(id) ORDER BY u.id) LOOP
    WHILE v_end <= v_id LOOP
      v_settled := false;
      SELECT r.lo + r.n INTO v_end FROM pawl.outbox_ready r
       WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      SELECT c.lo + c.n INTO v_end FROM pawl.outbox_claim c
       WHERE c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= v_id) AND c.lo + c.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      v_settled := true;
      SELECT d.lo + d.n INTO v_end FROM pawl.outbox_done d
       WHERE d.lo = (SELECT max(x.lo) FROM pawl.outbox_done x WHERE x.lo <= v_id) AND d.lo + d.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      SELECT e.id + 1 INTO v_end FROM pawl.outbox_exception e WHERE e.id = v_id AND e.status >= 3 FOR SHARE;
      EXIT WHEN FOUND;
      IF NOT EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id = v_id) THEN
        o_gone := v_id;
        RETURN;
      END IF;
      v_end := 0;
    END LOOP;
    IF v_settled THEN
      o_settled := array_append(o_settled, v_id);
    END IF;
  END LOOP;
END $f$;

-- Attach messages to a join; those already settled are counted at once (D-31).
-- Returns 0, or 1 for an unknown join, or 1 + the number of an unknown message;
-- then nothing was attached.
CREATE FUNCTION pawl.outbox_join_attach_all(p_join uuid, p_messages uuid[]) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_ids  bigint[];
  v_held record;
BEGIN
  v_ids := ARRAY(SELECT pawl.outbox_position(u.message) FROM unnest(p_messages) WITH ORDINALITY u(message, nth) ORDER BY u.nth);
  IF array_position(v_ids, NULL) IS NOT NULL THEN
    RETURN 1 + array_position(v_ids, NULL);
  END IF;
  v_held := pawl.outbox_hold(v_ids);
  IF v_held.o_gone IS NOT NULL THEN
    RETURN 1 + array_position(v_ids, v_held.o_gone);
  END IF;
  PERFORM FROM pawl.outbox_join j WHERE j.join_id = p_join FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN 1;
  END IF;
  INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id)
  SELECT p_join, u.id, u.message FROM unnest(v_ids, p_messages) u(id, message) ORDER BY u.message ON CONFLICT DO NOTHING;
  IF v_held.o_settled IS NOT NULL THEN -- else no join needs to be locked
    PERFORM pawl.outbox_join_settle(r.o_lo, r.o_n) FROM pawl.outbox_runs(v_held.o_settled) r;
  END IF;
  RETURN 0;
END $f$;

-- Count a member as completed (1) or failed (2) by hand. Returns 0 for an
-- unknown join, 1 if this counted it, 2 if it was counted before or the join is
-- over, 3 for a message that is no member.
CREATE FUNCTION pawl.outbox_join_report_step(p_join uuid, p_message uuid, p_status integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_status smallint;
  v_member smallint;
BEGIN
  SELECT j.status INTO v_status FROM pawl.outbox_join j WHERE j.join_id = p_join FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT m.status INTO v_member FROM pawl.outbox_join_member m WHERE m.join_id = p_join AND m.outbox_message_id = p_message;
  IF NOT FOUND THEN
    RETURN 3;
  END IF;
  IF v_status <> 0 OR v_member <> 0 THEN
    RETURN 2;
  END IF;
  UPDATE pawl.outbox_join_member m SET status = p_status WHERE m.join_id = p_join AND m.outbox_message_id = p_message;
  PERFORM pawl.outbox_join_add(ARRAY[p_join], ARRAY[(p_status = 1)::integer], ARRAY[(p_status = 2)::integer]);
  RETURN 1;
END $f$;

-- End a pending join: cancelled (3), or failed (2) if its deadline has passed.
-- Returns 0 for an unknown join, 1 if this ended it, 2 if not.
CREATE FUNCTION pawl.outbox_join_end(p_join uuid, p_status integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  UPDATE pawl.outbox_join j SET status = p_status, last_updated_utc = clock_timestamp()
   WHERE j.join_id = p_join AND j.status = 0 AND (p_status = 3 OR j.deadline_utc <= clock_timestamp());
  IF FOUND THEN
    PERFORM pawl.outbox_join_wake(ARRAY[p_join]);
    RETURN 1;
  END IF;
  RETURN 2 * (SELECT count(*) FROM pawl.outbox_join j WHERE j.join_id = p_join);
END $f$;

-- Put a claimed wait aside until its join is over: nothing will look at it
-- before its deadline or, without one, ever; the last step wakes it. A join that
-- ended meanwhile has it due at once. Counts no attempt. Returns whether the
-- wait was still p_owner's.
CREATE FUNCTION pawl.outbox_join_park(p_join uuid, p_owner uuid, p_id bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_run  pawl.outbox_run;
  v_join record;
BEGIN
  SELECT * INTO v_run FROM pawl.outbox_take(p_owner, p_id, 1);
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT j.status, j.deadline_utc INTO v_join FROM pawl.outbox_join j WHERE j.join_id = p_join FOR SHARE;
  IF v_join.status = 0 THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (p_id, p_join) ON CONFLICT DO NOTHING;
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, coalesce(v_join.deadline_utc, '9999-12-31 UTC'), p_id, 1, v_run.retry);
  ELSE
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, clock_timestamp(), p_id, 1, v_run.retry);
    PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = v_run.lane)]);
  END IF;
  RETURN 1;
END $f$;

-- Forget messages done or discarded longer ago than p_age, looking at the p_look
-- lowest runs: looking only at the low end bounds the work without an index.
-- What a pending join counts on stays (D-25); that is asked again once the runs
-- are locked, for somebody may have attached one meanwhile. One process at a
-- time: the others find the lock taken and nothing to do.
CREATE FUNCTION pawl.outbox_purge(p_age interval, p_look bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_before timestamptz := clock_timestamp() - p_age;
  v_done   bigint[];
  v_dead   bigint[];
  v_got    bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('pawl.outbox_purge', 0)) THEN
    RETURN 0;
  END IF;
  v_done := ARRAY(
    SELECT d.lo FROM pawl.outbox_done d WHERE d.lo = ANY (ARRAY(
      SELECT x.lo FROM (SELECT y.lo, y.processed_at FROM pawl.outbox_done y WHERE NOT pawl.outbox_join_needs(y.lo, y.n) ORDER BY y.lo LIMIT p_look) x
       WHERE x.processed_at < v_before)) FOR UPDATE SKIP LOCKED);
  v_dead := ARRAY(
    SELECT e.id FROM pawl.outbox_exception e WHERE e.id = ANY (ARRAY(
      SELECT x.id FROM (SELECT y.id, y.updated_at FROM pawl.outbox_exception y
                         WHERE y.status >= 3 AND y.status = 4 AND NOT pawl.outbox_join_needs(y.id, 1) ORDER BY y.id LIMIT p_look) x
       WHERE x.updated_at < v_before)) AND e.status = 4 FOR UPDATE SKIP LOCKED);
  WITH d AS (
    DELETE FROM pawl.outbox_done d WHERE d.lo = ANY (v_done) AND NOT pawl.outbox_join_needs(d.lo, d.n) RETURNING d.lo, d.n),
  g AS MATERIALIZED (
    SELECT d.lo, d.n FROM d UNION ALL SELECT i, 1 FROM unnest(v_dead) i WHERE NOT pawl.outbox_join_needs(i, 1)),
  e AS (
    DELETE FROM pawl.outbox_exception e USING g WHERE e.id >= g.lo AND e.id < g.lo + g.n),
  m AS (
    DELETE FROM pawl.outbox_message m USING g WHERE m.id >= g.lo AND m.id < g.lo + g.n RETURNING 1)
  SELECT count(*) INTO v_got FROM m;
  RETURN v_got;
END $f$;

-- Does a pending join count on one of these messages?
CREATE FUNCTION pawl.outbox_join_needs(p_lo bigint, p_n integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN EXISTS (
    SELECT FROM (SELECT m.join_id FROM pawl.outbox_join_member m WHERE m.id >= p_lo AND m.id < p_lo + p_n OFFSET 0) m
      JOIN pawl.outbox_join j ON j.join_id = m.join_id WHERE j.status = 0);
END $f$;

-- Forget joins that ended longer ago than p_age, looking at the p_look oldest of
-- each outcome, unless a wait is still to be handled. That is asked once the
-- joins are locked: somebody may have enqueued one meanwhile (D-34).
CREATE FUNCTION pawl.outbox_join_purge(p_age interval, p_look bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_before timestamptz := clock_timestamp() - p_age;
  v_joins  uuid[];
  v_got    bigint;
BEGIN
  v_joins := ARRAY(
    SELECT j.join_id FROM pawl.outbox_join j WHERE j.join_id = ANY (ARRAY(
      SELECT x.join_id FROM unnest('{1,2,3}'::int[]) s(status),
        LATERAL (SELECT y.join_id, y.last_updated_utc FROM pawl.outbox_join y WHERE y.status = s.status ORDER BY y.join_id LIMIT p_look) x
       WHERE x.last_updated_utc < v_before)) FOR UPDATE SKIP LOCKED);
  DELETE FROM pawl.outbox_join j WHERE j.join_id = ANY (v_joins)
     AND NOT EXISTS (SELECT FROM pawl.outbox_join_wait w JOIN pawl.outbox_item i ON i.id = w.id WHERE w.join_id = j.join_id AND i.status < 2);
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;

-- The lane of a queue at a priority, made known if it is new. Of two sessions
-- that do so at once the second may meet either key first.
CREATE OR REPLACE FUNCTION pawl.outbox_lane_id(p_queue text, p_priority smallint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_id bigint;
BEGIN
  SELECT l.id INTO v_id FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.priority = p_priority;
  IF v_id IS NULL THEN
    v_id := ('x' || left(md5(p_queue || '/' || p_priority), 16))::bit(64)::bigint;
    INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (v_id, p_queue, p_priority) ON CONFLICT DO NOTHING;
  END IF;
  RETURN v_id;
END $f$;

-- What follows is for programs in other languages and for triggers.

-- An id that sorts by time: UUID version 7.
CREATE FUNCTION pawl.outbox_join_new_id() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid;
END $f$;

-- Start a join in the caller's transaction. Starting one with a known id adds
-- nothing. With a deadline, a message of topic wait_topic ends the join then.
CREATE FUNCTION pawl.outbox_join_start(expected_steps integer, grouping_key text DEFAULT NULL, metadata text DEFAULT NULL, deadline_utc timestamptz DEFAULT NULL,
  join_id uuid DEFAULT NULL, wait_topic text DEFAULT 'join.wait', queue text DEFAULT 'default')
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
DECLARE
  v_join uuid := coalesce(join_id, pawl.outbox_join_new_id());
BEGIN
  IF coalesce(expected_steps, 0) < 1 THEN
    RAISE EXCEPTION 'expected_steps: less than 1' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF length(grouping_key) > 255 THEN
    RAISE EXCEPTION 'grouping_key: 255 characters at most' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO pawl.outbox_join AS j (join_id, grouping_key, expected_steps, metadata, deadline_utc)
  VALUES (v_join, nullif(grouping_key, ''), expected_steps, metadata, deadline_utc) ON CONFLICT DO NOTHING;
  IF FOUND AND deadline_utc IS NOT NULL THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id)
    SELECT pawl.outbox_position(pawl.outbox_enqueue(topic => wait_topic, payload => jsonb_build_object('JoinId', v_join), due_time_utc => deadline_utc, queue => queue)), v_join;
  END IF;
  RETURN v_join;
END $f$;

CREATE FUNCTION pawl.outbox_join_attach(join_id uuid, message_id uuid) RETURNS void LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  CASE pawl.outbox_join_attach_all($1, ARRAY[$2])
    WHEN 0 THEN RETURN;
    WHEN 1 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    ELSE RAISE EXCEPTION 'message % not found', $2 USING ERRCODE = 'no_data_found';
  END CASE;
END $f$;

-- Report a step by hand: true if this counted it.
CREATE FUNCTION pawl.outbox_join_report(join_id uuid, message_id uuid, failed boolean DEFAULT false) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  CASE pawl.outbox_join_report_step($1, $2, CASE WHEN $3 THEN 2 ELSE 1 END)
    WHEN 0 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 1 THEN RETURN true;
    WHEN 2 THEN RETURN false;
    ELSE RAISE EXCEPTION 'message % is not a member of join %', $2, $1 USING ERRCODE = 'no_data_found';
  END CASE;
END $f$;

-- Cancel a join: true if this ended it.
CREATE FUNCTION pawl.outbox_join_cancel(join_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  CASE pawl.outbox_join_end($1, 3)
    WHEN 0 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 1 THEN RETURN true;
    ELSE RETURN false;
  END CASE;
END $f$;

-- Have a message sent when a join is over. Returns the id of the wait.
CREATE FUNCTION pawl.outbox_join_wait(join_id uuid, on_complete_topic text DEFAULT NULL, on_complete_payload text DEFAULT NULL, on_fail_topic text DEFAULT NULL,
  on_fail_payload text DEFAULT NULL, fail_if_any_step_failed boolean DEFAULT true, wait_topic text DEFAULT 'join.wait', queue text DEFAULT 'default')
RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
#variable_conflict use_variable
DECLARE
  v_wait uuid;
BEGIN
  IF NOT EXISTS (SELECT FROM pawl.outbox_join j WHERE j.join_id = join_id) THEN
    RAISE EXCEPTION 'join % not found', join_id USING ERRCODE = 'no_data_found';
  END IF;
  v_wait := pawl.outbox_enqueue(topic => wait_topic, queue => queue, payload => jsonb_strip_nulls(jsonb_build_object('JoinId', join_id,
    'FailIfAnyStepFailed', fail_if_any_step_failed, 'OnCompleteTopic', on_complete_topic, 'OnCompletePayload', on_complete_payload,
    'OnFailTopic', on_fail_topic, 'OnFailPayload', on_fail_payload)));
  INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (pawl.outbox_position(v_wait), join_id);
  RETURN v_wait;
END $f$;

-- Plans of the routines on the hot path are made once a session, not once a
-- call: with arrays for parameters PostgreSQL never settles on a generic plan by
-- itself, and planning cost more than running (ack of one message 412 -> 177 us,
-- with a join 1772 -> 666 us). The routines pin their plans anyway.
ALTER FUNCTION pawl.outbox_claim_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_take SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_ack_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_abandon_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_fail_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_release_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_extend_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_reap_runs SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_join_settle SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_join_add SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_join_wake SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION pawl.outbox_join_reopen SET plan_cache_mode = force_generic_plan;
