-- Jobs: see docs/jobs.md. "pawl." stands for the configured schema and prefix.
--
-- Locks are taken in this order: the job, its runs, what holds their messages.

CREATE TABLE pawl.job (
  id            uuid PRIMARY KEY,
  name          text COLLATE "C" NOT NULL UNIQUE,
  topic         text NOT NULL,
  payload       bytea NOT NULL,
  headers       text,
  lane          bigint NOT NULL,
  schedule      text NOT NULL,
  zone          text NOT NULL,
  misfire       smallint NOT NULL, -- 0 once, 1 none, 2 all
  misfire_limit integer NOT NULL,  -- of all
  overlap       smallint NOT NULL, -- 0 allowed, 1 skip
  spread        bigint NOT NULL,   -- microseconds
  shift         bigint NOT NULL,   -- this job's part of them
  enabled       boolean NOT NULL DEFAULT true,
  next_time     timestamptz,       -- nominal time of the next run; null: none
  due_at        timestamptz,       -- when to make it: next_time + shift, or when to look again at a broken job
  last_run      bigint,
  last_error    text,              -- why its schedule cannot be followed
  version       bigint NOT NULL DEFAULT 1, -- grows with every change but those of the two times
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX ON pawl.job (due_at, id) WHERE due_at IS NOT NULL;

-- A run is its message: id is the message's position. As long as outcome is null
-- the message's place says what has become of it; job_settle writes it down
-- before the outbox forgets the message.
CREATE TABLE pawl.job_run (
  id             bigint PRIMARY KEY,
  run_id         uuid NOT NULL, -- the message's id
  job_id         uuid NOT NULL,
  job_name       text COLLATE "C" NOT NULL,
  scheduled_time timestamptz NOT NULL, -- nominal
  triggered      boolean NOT NULL DEFAULT false,
  missed         bigint NOT NULL DEFAULT 0, -- of outcome 6: how many times, scheduled_time being the first
  outcome        smallint, -- as the outbox has it: 2 succeeded, 4 discarded; 5 skipped, 6 missed
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  start_time     timestamptz,
  end_time       timestamptz,
  retry_count    integer NOT NULL DEFAULT 0,
  claimed_by     text,
  last_error     text
) WITH (fillfactor = 80);
-- One run a nominal time, whoever makes it (D-82).
CREATE UNIQUE INDEX ON pawl.job_run (job_id, scheduled_time) WHERE NOT triggered;
CREATE INDEX ON pawl.job_run (job_name, scheduled_time, id);
CREATE INDEX ON pawl.job_run (job_id, id) WHERE outcome IS NULL;
CREATE INDEX ON pawl.job_run (end_time) WHERE outcome IS NOT NULL;

-- Runs with what their messages say. status: 0 pending, 1 running, 2 succeeded,
-- 3 failed, 4 cancelled, 5 skipped, 6 missed; null if the message is gone.
CREATE VIEW pawl.job_run_item AS
SELECT r.id, r.run_id, r.job_id, r.job_name, r.scheduled_time, r.triggered, r.missed, r.outcome, r.created_at, r.start_time,
       coalesce(r.outcome, CASE WHEN q.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 ELSE e.status END::smallint) AS status,
       coalesce(r.end_time, d.processed_at, CASE WHEN e.status >= 3 THEN e.updated_at END) AS end_time,
       coalesce(q.retry, c.retry, e.retry_count, r.retry_count) AS retry_count,
       coalesce(c.owner::text, d.processed_by, r.claimed_by) AS claimed_by,
       coalesce(e.last_error, r.last_error) AS last_error
  FROM pawl.job_run r
  LEFT JOIN pawl.outbox_ready q ON r.outcome IS NULL AND q.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= r.id) AND q.lo + q.n > r.id
  LEFT JOIN pawl.outbox_claim c ON r.outcome IS NULL AND c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= r.id) AND c.lo + c.n > r.id
  LEFT JOIN pawl.outbox_done  d ON r.outcome IS NULL AND d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= r.id) AND d.lo + d.n > r.id
  LEFT JOIN pawl.outbox_exception e ON r.outcome IS NULL AND e.id = r.id;

-- Take messages out of ready, whatever runs they are part of, and return what was
-- taken, a run of one each. p_due: only those that are due. What somebody is
-- moving makes us wait, and then look again with a fresh snapshot (layout rule 7).
CREATE FUNCTION pawl.outbox_withdraw(p_ids bigint[], p_due boolean) RETURNS SETOF pawl.outbox_run LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_id  bigint;
  v_run pawl.outbox_ready;
BEGIN
  FOREACH v_id IN ARRAY ARRAY(SELECT DISTINCT u.id FROM unnest(p_ids) u(id) ORDER BY u.id) LOOP
    LOOP
      DELETE FROM pawl.outbox_ready r
       WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id AND (NOT p_due OR r.at <= clock_timestamp())
      RETURNING * INTO v_run;
      IF FOUND THEN
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
        SELECT v_run.lane, v_run.at, part.lo, part.n, v_run.retry
          FROM (VALUES (v_run.lo, (v_id - v_run.lo)::integer), (v_id + 1, (v_run.lo + v_run.n - v_id - 1)::integer)) part(lo, n) WHERE part.n > 0;
        RETURN NEXT (v_id, 1, v_run.lane, v_run.at, v_run.retry, NULL)::pawl.outbox_run;
        EXIT;
      END IF;
      EXIT WHEN NOT EXISTS (
        SELECT FROM pawl.outbox_ready r
         WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id AND (NOT p_due OR r.at <= clock_timestamp()));
    END LOOP;
  END LOOP;
END $f$;

-- Make a run of a job whose row is locked, and its message; or record that there
-- is none, because times were missed or the last run is not over (D-83, D-86).
-- Returns 1 if there is a new message.
CREATE FUNCTION pawl.job_make_run(p_job pawl.job, p_id bigint, p_run uuid, p_nominal timestamptz, p_missed bigint, p_triggered boolean) RETURNS integer LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now     timestamptz := clock_timestamp();
  v_outcome smallint;
BEGIN
  IF p_missed > 0 THEN
    v_outcome := 6;
  ELSIF p_job.overlap = 1 AND NOT p_triggered
    AND EXISTS (SELECT FROM pawl.job_run_item i WHERE i.job_id = p_job.id AND i.outcome IS NULL AND i.status < 2) THEN
    v_outcome := 5;
  END IF;
  INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time, triggered, missed, outcome, created_at, end_time)
  VALUES (p_id, p_run, p_job.id, p_job.name, p_nominal, p_triggered, p_missed, v_outcome, v_now, CASE WHEN v_outcome IS NOT NULL THEN v_now END)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND OR v_outcome IS NOT NULL THEN
    RETURN 0;
  END IF;
  INSERT INTO pawl.outbox_message (id, message_id, lane, due_at, topic, headers, payload)
  VALUES (p_id, p_run, p_job.lane, p_nominal, p_job.topic, p_job.headers, p_job.payload);
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (p_job.lane, v_now, p_id, 1);
  UPDATE pawl.job j SET last_run = p_id WHERE j.id = p_job.id;
  PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = p_job.lane)]);
  RETURN 1;
END $f$;

-- Move jobs on to their next times and make the runs between, unless somebody
-- else did or the job is another by now (D-82). Arrays: the jobs with their
-- versions, the times they are moved from and to, and when they are due then; the
-- runs with their jobs, nominal times, positions, ids, and how many times were
-- missed (0: a run). Returns how many messages there are.
CREATE FUNCTION pawl.job_fire(p_job uuid[], p_version bigint[], p_from timestamptz[], p_next timestamptz[], p_due timestamptz[],
  p_run_job uuid[], p_nominal timestamptz[], p_id bigint[], p_run uuid[], p_missed bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_plan record;
  v_run  record;
  v_job  pawl.job;
  v_got  bigint := 0;
BEGIN
  FOR v_plan IN SELECT u.* FROM unnest(p_job, p_version, p_from, p_next, p_due) u(id, version, since, next, due) ORDER BY u.id LOOP
    UPDATE pawl.job j SET next_time = v_plan.next, due_at = v_plan.due, last_error = NULL
     WHERE j.id = v_plan.id AND j.version = v_plan.version AND j.next_time = v_plan.since AND j.enabled RETURNING * INTO v_job;
    CONTINUE WHEN NOT FOUND;
    FOR v_run IN SELECT u.* FROM unnest(p_run_job, p_nominal, p_id, p_run, p_missed) u(job, nominal, id, run, missed) WHERE u.job = v_plan.id ORDER BY u.nominal LOOP
      v_got := v_got + pawl.job_make_run(v_job, v_run.id, v_run.run, v_run.nominal, v_run.missed, false);
    END LOOP;
  END LOOP;
  RETURN v_got;
END $f$;

-- Run a job now, beside its schedule. Returns 0 for an unknown one.
CREATE FUNCTION pawl.job_trigger_run(p_name text, p_id bigint, p_run uuid) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_job pawl.job;
BEGIN
  SELECT * INTO v_job FROM pawl.job j WHERE j.name = p_name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  RETURN pawl.job_make_run(v_job, p_id, p_run, clock_timestamp(), 0, true);
END $f$;

-- Delete a job and its pending runs; one that is running goes on to its end
-- (D-84). Returns 0 for an unknown job.
CREATE FUNCTION pawl.job_remove(p_name text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_job uuid;
  v_ids bigint[];
BEGIN
  SELECT j.id INTO v_job FROM pawl.job j WHERE j.name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  v_ids := ARRAY(SELECT r.id FROM pawl.job_run r WHERE r.job_id = v_job AND r.outcome IS NULL);
  v_ids := ARRAY(SELECT w.lo FROM pawl.outbox_withdraw(v_ids, false) w);
  INSERT INTO pawl.outbox_exception AS e (id, status, last_error, updated_at) SELECT i, 4, 'the job was deleted', clock_timestamp() FROM unnest(v_ids) i
  ON CONFLICT (id) DO UPDATE SET status = 4, next_attempt_at = NULL, last_error = excluded.last_error, updated_at = excluded.updated_at;
  PERFORM pawl.outbox_join_settle(s.o_lo, s.o_n) FROM pawl.outbox_runs(v_ids) s;
  DELETE FROM pawl.job_run r WHERE r.id = ANY (v_ids);
  DELETE FROM pawl.job j WHERE j.id = v_job;
  RETURN 1;
END $f$;

-- Take up to p_n due runs under a lease, for programs that run jobs in a way of
-- their own: a claim like any other, of messages that are runs.
CREATE FUNCTION pawl.job_claim_runs(p_owner uuid, p_lease interval, p_n integer)
RETURNS TABLE (id bigint, message_id uuid, topic text, correlation_id text, headers text, payload bytea, created_at timestamptz, due_at timestamptz,
               retry integer, queue text, priority smallint, locked_until timestamptz)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_ids   bigint[];
  v_until timestamptz;
BEGIN
  v_ids := ARRAY(
    SELECT r.id FROM pawl.job_run r JOIN pawl.outbox_ready q ON q.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= r.id) AND q.lo + q.n > r.id
     WHERE r.outcome IS NULL AND q.at <= clock_timestamp() ORDER BY r.id LIMIT p_n);
  v_until := clock_timestamp() + p_lease;
  WITH held AS (
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until)
    SELECT w.lo, 1, w.lane, w.at, w.retry, p_owner, v_until FROM pawl.outbox_withdraw(v_ids, true) w RETURNING lo)
  SELECT array_agg(held.lo) INTO v_ids FROM held;
  UPDATE pawl.job_run r SET start_time = clock_timestamp() WHERE r.id = ANY (v_ids) AND r.start_time IS NULL;
  RETURN QUERY
  SELECT m.id, m.message_id, m.topic, m.correlation_id, m.headers, m.payload, m.created_at, m.due_at, c.retry, l.queue, l.priority, c.locked_until
    FROM pawl.outbox_claim c JOIN pawl.outbox_message m ON m.id = c.lo JOIN pawl.outbox_lane l ON l.id = m.lane WHERE c.lo = ANY (v_ids) ORDER BY m.id;
END $f$;

-- Write down how runs ended whose messages are done or discarded. Failed ones may
-- be redriven yet, and their messages stay: they are followed on.
CREATE FUNCTION pawl.job_settle() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
BEGIN
  UPDATE pawl.job_run r SET outcome = i.status, end_time = i.end_time, retry_count = i.retry_count, claimed_by = i.claimed_by, last_error = i.last_error
    FROM pawl.job_run_item i WHERE r.outcome IS NULL AND i.id = r.id AND i.outcome IS NULL AND i.status IN (2, 4);
  GET DIAGNOSTICS v_got = ROW_COUNT;
  RETURN v_got;
END $f$;

-- The seed's Jobs and JobRuns, column for column (D-102).
CREATE VIEW pawl.jobs AS
SELECT j.id, j.name AS job_name, j.schedule AS cron_schedule, j.topic, pawl.outbox_text(j.payload) AS payload, j.enabled AS is_enabled, j.next_time AS next_due_time,
       (SELECT coalesce(i.start_time, i.created_at) FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_time,
       (SELECT (ARRAY['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled'])[1 + i.status] FROM pawl.job_run_item i WHERE i.id = j.last_run) AS last_run_status,
       j.zone, l.queue, l.priority, j.last_error
  FROM pawl.job j LEFT JOIN pawl.outbox_lane l ON l.id = j.lane;

CREATE VIEW pawl.job_runs AS
SELECT i.run_id AS id, i.job_id, i.scheduled_time, (ARRAY['Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Missed'])[1 + i.status] AS status,
       i.claimed_by, i.start_time AS claimed_at, i.retry_count, i.start_time, i.end_time, NULL::text AS output, i.last_error, i.job_name, i.triggered, i.missed
  FROM pawl.job_run_item i;

-- What follows is for programs in other languages and for triggers.

-- Run a job now, beside its schedule. Returns the run's id, which is the message's.
CREATE FUNCTION pawl.job_trigger(job_name text) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $f$
DECLARE
  v_id  bigint := nextval('pawl.outbox_single');
  v_run uuid := pawl.outbox_message_id(v_id);
BEGIN
  IF pawl.job_trigger_run($1, v_id, v_run) = 0 THEN
    RAISE EXCEPTION 'job % not found', $1 USING ERRCODE = 'no_data_found';
  END IF;
  RETURN v_run;
END $f$;

-- Delete a job and its pending runs: false if there was none.
CREATE FUNCTION pawl.job_delete(job_name text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $f$
BEGIN
  RETURN pawl.job_remove($1) = 1;
END $f$;
