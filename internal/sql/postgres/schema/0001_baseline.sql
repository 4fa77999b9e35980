-- The run layout: see docs/layout.md. "pawl." stands for the configured schema and prefix.

-- Which history of this database this is: docs/decisions/0016-generation.md. One row,
-- written anew whenever the history changed. number grows with each: milliseconds
-- since 2024 where that is more than one more. place and written tell that nobody
-- noticed yet: the server and its timeline, and the transaction that wrote the row,
-- which is another one in a table that was restored.
CREATE TABLE pawl.generation (
  one     boolean PRIMARY KEY DEFAULT true CHECK (one),
  id      uuid NOT NULL DEFAULT gen_random_uuid(),
  number  bigint NOT NULL DEFAULT greatest(1, floor(extract(epoch FROM clock_timestamp() - timestamptz '2024-01-01 UTC') * 1000)::bigint),
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  place   text,
  written text
);
INSERT INTO pawl.generation DEFAULT VALUES;

-- One value is a block of 4096 ids for one client process.
CREATE SEQUENCE pawl.outbox_block AS bigint MINVALUE 1 MAXVALUE 34359738367;
-- Ids of messages that are enqueued through SQL, from 2^47 up.
CREATE SEQUENCE pawl.outbox_single AS bigint MINVALUE 140737488355328 MAXVALUE 281474976710655;

-- A lane is a queue at one priority, or of another kind: see docs/claim.md. Its id is a
-- hash of its name, so that a producer knows it without asking.
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
  suspect integer NOT NULL DEFAULT 0, -- above 0: a claim of it expired; it is claimed with other suspects alone, so many messages at most
  PRIMARY KEY (lane, at, lo)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ON pawl.outbox_ready (lane, at, lo) WHERE suspect > 0;

-- Runs under lease, with what is needed to put them back.
CREATE TABLE pawl.outbox_claim (
  lo           bigint PRIMARY KEY,
  n            integer NOT NULL CHECK (n > 0),
  lane         bigint NOT NULL,
  at           timestamptz NOT NULL,
  retry        integer NOT NULL,
  owner        uuid NOT NULL,
  locked_until timestamptz NOT NULL,
  suspect      integer NOT NULL DEFAULT 0 -- above 0: how many suspects the claim took
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

CREATE TYPE pawl.outbox_run AS (lo bigint, n integer, lane bigint, at timestamptz, retry integer, owner uuid, suspect integer);

-- Joins: see docs/joins.md.
-- Members change only under their join's lock. The order of locks: see docs/claim.md.

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
  id       bigint PRIMARY KEY,
  join_id  uuid NOT NULL REFERENCES pawl.outbox_join ON DELETE CASCADE,
  replaced boolean NOT NULL DEFAULT false -- by another one, when the join was redriven
);
CREATE INDEX ON pawl.outbox_join_wait (join_id);

-- The inbox: see docs/inbox.md. Keyed by source and message id.

CREATE TABLE pawl.inbox (
  source           text COLLATE "C" NOT NULL,
  message_id       text COLLATE "C" NOT NULL,
  hash             bytea,
  first_seen_utc   timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_utc    timestamptz NOT NULL DEFAULT clock_timestamp(),
  processed_utc    timestamptz,
  deliveries       bigint NOT NULL DEFAULT 1, -- how often it was seen
  attempts         integer NOT NULL DEFAULT 0, -- how often its handler ran, as far as that is known
  mismatches       integer NOT NULL DEFAULT 0, -- deliveries with another hash
  status           text NOT NULL DEFAULT 'Seen' CHECK (status IN ('Seen', 'Processing', 'Done', 'Dead')),
  last_error       text,
  token            uuid,        -- of the attempt under way
  locked_until_utc timestamptz, -- end of its lease
  PRIMARY KEY (source, message_id)
) WITH (fillfactor = 80);
CREATE INDEX ON pawl.inbox (last_seen_utc) WHERE status = 'Processing';
CREATE INDEX ON pawl.inbox (processed_utc) WHERE status = 'Done';
CREATE INDEX ON pawl.inbox (source, message_id) WHERE status = 'Dead';

-- Leases: see docs/leases.md. "pawl." stands for the configured schema and prefix.
--
-- Who locks a lease's row, and how, so that each waits only for whom it must:
--   guard            FOR KEY SHARE       until the caller's transaction ends
--   renew, release,  FOR NO KEY UPDATE   passes guards: a long guarded transaction
--   enrol, leave                         does not cost its holder the lease
--   acquire, force   FOR UPDATE          waits for guards: nobody takes a lease
--                                        between a guard and its commit (D-64)

-- One row per name. It is never deleted, so that its token never starts anew (D-60).
CREATE TABLE pawl.lease (
  name             text COLLATE "C" PRIMARY KEY,
  owner            text,
  lease_until_utc  timestamptz,
  last_granted_utc timestamptz,
  token            bigint NOT NULL,
  holder           uuid -- the one acquisition that holds it (D-61), or null
);

-- Who waits for a lease, in order of arrival. Waiters that stop saying that
-- they are alive drop out of the line. No identity column: Citus does not
-- undistribute a table that has one.
CREATE SEQUENCE pawl.lease_waiter_ticket_seq;
CREATE TABLE pawl.lease_waiter (
  ticket      bigint NOT NULL DEFAULT nextval('pawl.lease_waiter_ticket_seq'),
  name        text COLLATE "C" NOT NULL,
  id          uuid PRIMARY KEY,
  alive_until timestamptz NOT NULL
);
CREATE INDEX ON pawl.lease_waiter (name, ticket);

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
  suspect        integer NOT NULL DEFAULT 0, -- as in outbox_ready or, of a claimed one, in outbox_claim
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
CREATE INDEX ON pawl.timer (at, id) WHERE status = 0 AND suspect > 0;
CREATE INDEX ON pawl.timer (owner) WHERE status = 1;
CREATE INDEX ON pawl.timer (processed_at, id) WHERE status >= 2;
CREATE UNIQUE INDEX ON pawl.timer (timer_id) WHERE supplied;
-- One pending timer a key. Whoever schedules a key again takes it from a claimed one.
CREATE UNIQUE INDEX ON pawl.timer (key) WHERE key IS NOT NULL AND status < 2;

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

-- Operating pawl: who did what, what is paused, which workers there are; see
-- docs/operating.md. "pawl." stands for the configured schema and prefix.

-- What operators did. A row grows while its operation, in many transactions, does. actor is who was
-- named, db_user who the database knows.
CREATE TABLE pawl.audit_trail (
  id     uuid PRIMARY KEY,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor  text NOT NULL,
  db_user text NOT NULL DEFAULT session_user,
  action text NOT NULL,
  target text NOT NULL,
  reason text,
  n      bigint NOT NULL
);
CREATE INDEX ON pawl.audit_trail (at, id);

-- Bulk acts on failed messages that workers work off in steps, in the order of positions.
CREATE TABLE pawl.outbox_bulk (
  id            uuid PRIMARY KEY, -- also of the entry of the audit trail that counts what it changed
  action        text NOT NULL CHECK (action IN ('redrive', 'discard')),
  ids           text, -- what it selects, null: any; this is a JSON array of positions
  topic         text,
  queue         text,
  error         text,
  failed_since  timestamptz,
  failed_before timestamptz NOT NULL, -- not later than created_at: what fails afterwards is left alone
  most          bigint,
  rate          integer NOT NULL CHECK (rate >= 0), -- a second; 0: no limit
  target        text NOT NULL,
  actor         text NOT NULL,
  reason        text,
  total         bigint NOT NULL, -- how many messages it selected when it was stored
  n             bigint NOT NULL DEFAULT 0, -- how many it has changed
  last          bigint NOT NULL DEFAULT 0, -- the position up to which it has come
  created_at    timestamptz NOT NULL,
  at            timestamptz NOT NULL, -- when the next step may begin
  stepped_at    timestamptz,
  ended_at      timestamptz,
  stopped_by    text -- who stopped it before its end
);
CREATE INDEX ON pawl.outbox_bulk (at) WHERE ended_at IS NULL;

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
  overdue      text NOT NULL DEFAULT '[]', -- positions of messages whose handlers ignore their time-out
  shared       boolean NOT NULL -- it works on many databases, taking turns
) WITH (fillfactor = 50);
