-- The run layout: see docs/layout.md. "pawl." stands for the configured schema and prefix.
--
-- Names are compared by their bytes, whatever the database's collation; a name of 255
-- characters may take twice as many UTF-16 units. Spaces at their end do not count for =
-- and for an index: where names are keys, their sizes are, too. Times are UTC. Every table is clustered
-- by a key that grows, none by a uniqueidentifier: those are unique by an index beside it. Locks on
-- rows never become one on the table: it would stop every other claim.

-- Which history of this database this is: docs/decisions/0016-generation.md. One row,
-- written anew whenever the history changed. number grows with each: milliseconds
-- since 2024 where that is more than one more. place and written tell that nobody
-- noticed yet; see generation_place.
CREATE TABLE pawl.generation (
  one     bit NOT NULL DEFAULT 1 PRIMARY KEY CHECK (one = 1),
  id      uniqueidentifier NOT NULL DEFAULT NEWID(),
  number  bigint NOT NULL,
  since   datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  place   nvarchar(400),
  written nvarchar(400)
);
ALTER TABLE pawl.generation SET (LOCK_ESCALATION = DISABLE);
INSERT INTO pawl.generation (number) VALUES (DATEDIFF_BIG(millisecond, '2024-01-01', SYSUTCDATETIME()));

-- One value is a block of 4096 ids for one client process.
CREATE SEQUENCE pawl.outbox_block AS bigint START WITH 1 INCREMENT BY 1 MINVALUE 1 MAXVALUE 34359738367;
-- Ids of messages that are enqueued through SQL, from 2^47 up.
CREATE SEQUENCE pawl.outbox_single AS bigint START WITH 140737488355328 INCREMENT BY 1 MINVALUE 140737488355328 MAXVALUE 281474976710655 CACHE 50;

-- A lane is a queue at one priority, or of another kind: see docs/claim.md. Its id is a
-- hash of its name, so that a producer knows it without asking.
CREATE TABLE pawl.outbox_lane (
  id       bigint NOT NULL PRIMARY KEY,
  queue    nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  priority smallint NOT NULL,
  size     AS DATALENGTH(queue)
);
ALTER TABLE pawl.outbox_lane SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX queue ON pawl.outbox_lane (queue, size, priority);
-- md5('default/0'), first 8 bytes: what most programs use is known from the start.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (4828129222919567135, N'default', 0);

-- One row per message, written once and never updated.
CREATE TABLE pawl.outbox_message (
  id             bigint NOT NULL PRIMARY KEY,
  message_id     uniqueidentifier NOT NULL,
  supplied       bit NOT NULL DEFAULT 0,
  lane           bigint NOT NULL,
  created_at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  due_at         datetime2(7),
  topic          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  correlation_id nvarchar(510) COLLATE Latin1_General_100_BIN2,
  headers        nvarchar(max) COLLATE Latin1_General_100_BIN2,
  payload        varbinary(max) NOT NULL
);
ALTER TABLE pawl.outbox_message SET (LOCK_ESCALATION = DISABLE);
-- Ids that callers supplied deduplicate; ids that pawl makes carry their
-- position and need no index.
CREATE UNIQUE INDEX supplied ON pawl.outbox_message (message_id) WHERE supplied = 1;

-- Runs that may be claimed at or after "at". Rows alone are locked, never pages: two
-- claims lie next to each other.
CREATE TABLE pawl.outbox_ready (
  lane    bigint NOT NULL,
  at      datetime2(7) NOT NULL,
  lo      bigint NOT NULL,
  n       bigint NOT NULL CHECK (n > 0),
  retry   int NOT NULL DEFAULT 0,
  suspect int NOT NULL DEFAULT 0, -- above 0: a claim of it expired; it is claimed with other suspects alone, so many messages at most
  PRIMARY KEY (lane, at, lo) WITH (ALLOW_PAGE_LOCKS = OFF)
);
ALTER TABLE pawl.outbox_ready SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX lo ON pawl.outbox_ready (lo) INCLUDE (n, retry, suspect) WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX suspect ON pawl.outbox_ready (lane, at, lo) INCLUDE (suspect, n) WHERE suspect > 0 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Runs under lease, with what is needed to put them back.
CREATE TABLE pawl.outbox_claimed (
  lo           bigint NOT NULL,
  n            bigint NOT NULL CHECK (n > 0),
  lane         bigint NOT NULL,
  at           datetime2(7) NOT NULL,
  retry        int NOT NULL,
  owner        uniqueidentifier NOT NULL,
  locked_until datetime2(7) NOT NULL,
  suspect      int NOT NULL DEFAULT 0, -- above 0: how many suspects the claim took
  PRIMARY KEY (lo) WITH (ALLOW_PAGE_LOCKS = OFF)
);
ALTER TABLE pawl.outbox_claimed SET (LOCK_ESCALATION = DISABLE);

-- Runs that were acked.
CREATE TABLE pawl.outbox_done (
  lo           bigint NOT NULL PRIMARY KEY,
  n            bigint NOT NULL CHECK (n > 0),
  processed_at datetime2(7) NOT NULL,
  owner        uniqueidentifier NOT NULL,
  processed_by nvarchar(510) COLLATE Latin1_General_100_BIN2
);
ALTER TABLE pawl.outbox_done SET (LOCK_ESCALATION = DISABLE);

-- Messages that went wrong at least once. 0: retried, 3: failed, 4: discarded.
CREATE TABLE pawl.outbox_exception (
  id              bigint NOT NULL PRIMARY KEY,
  status          smallint NOT NULL,
  retry_count     int NOT NULL DEFAULT 0,
  next_attempt_at datetime2(7),
  last_error      nvarchar(max) COLLATE Latin1_General_100_BIN2,
  redrives        int NOT NULL DEFAULT 0,
  updated_at      datetime2(7) NOT NULL
);
ALTER TABLE pawl.outbox_exception SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX status ON pawl.outbox_exception (status, id) WHERE status >= 3;

-- Joins: see docs/joins.md.
-- Members change only under their join's lock. The order of locks: see docs/claim.md.

CREATE TABLE pawl.outbox_join (
  seq              bigint IDENTITY NOT NULL PRIMARY KEY, -- a clustered key that grows
  join_id          uniqueidentifier NOT NULL,
  grouping_key     nvarchar(510) COLLATE Latin1_General_100_BIN2,
  expected_steps   int NOT NULL CHECK (expected_steps > 0),
  completed_steps  int NOT NULL DEFAULT 0,
  failed_steps     int NOT NULL DEFAULT 0,
  status           smallint NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed, 3 cancelled
  created_utc      datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  last_updated_utc datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  metadata         nvarchar(max) COLLATE Latin1_General_100_BIN2,
  deadline_utc     datetime2(7),
  -- join_id in the order of its bytes, which is that of time: SQL Server compares the last
  -- six bytes first.
  rank AS CONVERT(binary(16), REPLACE(CAST(join_id AS char(36)), '-', ''), 2) PERSISTED,
  CHECK (completed_steps + failed_steps <= expected_steps),
  UNIQUE (join_id)
);
ALTER TABLE pawl.outbox_join SET (LOCK_ESCALATION = DISABLE);

CREATE INDEX rank ON pawl.outbox_join (rank);
CREATE INDEX grouping_key ON pawl.outbox_join (grouping_key, rank) WHERE grouping_key IS NOT NULL;
CREATE INDEX status ON pawl.outbox_join (status, rank);

-- id is the message's position: ack and fail look for members by runs.
CREATE TABLE pawl.outbox_join_member (
  seq               bigint IDENTITY NOT NULL PRIMARY KEY,
  join_id           uniqueidentifier NOT NULL REFERENCES pawl.outbox_join (join_id) ON DELETE CASCADE,
  outbox_message_id uniqueidentifier NOT NULL,
  id                bigint NOT NULL,
  status            smallint NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed
  created_utc       datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  UNIQUE (join_id, outbox_message_id)
);
ALTER TABLE pawl.outbox_join_member SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX id ON pawl.outbox_join_member (id) INCLUDE (join_id, status);

-- The join.wait messages of a join, by position.
CREATE TABLE pawl.outbox_join_waiting (
  id       bigint NOT NULL PRIMARY KEY,
  join_id  uniqueidentifier NOT NULL REFERENCES pawl.outbox_join (join_id) ON DELETE CASCADE,
  replaced bit NOT NULL DEFAULT 0 -- by another one, when the join was redriven
);
ALTER TABLE pawl.outbox_join_waiting SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX join_id ON pawl.outbox_join_waiting (join_id);

-- The inbox: see docs/inbox.md. Known by source and message id.

CREATE TABLE pawl.inbox (
  seq              bigint IDENTITY NOT NULL PRIMARY KEY,
  source           nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  message_id       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  hash             varbinary(max),
  first_seen_utc   datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  last_seen_utc    datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  processed_utc    datetime2(7),
  deliveries       bigint NOT NULL DEFAULT 1, -- how often it was seen
  attempts         int NOT NULL DEFAULT 0, -- how often its handler ran, as far as that is known
  mismatches       int NOT NULL DEFAULT 0, -- deliveries with another hash
  status           nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT N'Seen' CHECK (status IN (N'Seen', N'Processing', N'Done', N'Dead')),
  last_error       nvarchar(max) COLLATE Latin1_General_100_BIN2,
  token            uniqueidentifier, -- of the attempt under way
  locked_until_utc datetime2(7),     -- end of its lease
  sizes            AS DATALENGTH(source) * 2048 + DATALENGTH(message_id)
);
ALTER TABLE pawl.inbox SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX source ON pawl.inbox (source, message_id, sizes);
CREATE INDEX processing ON pawl.inbox (last_seen_utc) WHERE status = N'Processing';
CREATE INDEX done ON pawl.inbox (processed_utc) WHERE status = N'Done';
CREATE INDEX dead ON pawl.inbox (source, message_id) WHERE status = N'Dead';

-- Leases: see docs/leases.md.

-- One row per name. It is never deleted, so that its token never starts anew (D-60).
CREATE TABLE pawl.lease (
  seq              bigint IDENTITY NOT NULL PRIMARY KEY,
  name             nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  owner            nvarchar(510) COLLATE Latin1_General_100_BIN2,
  lease_until_utc  datetime2(7),
  last_granted_utc datetime2(7),
  token            bigint NOT NULL,
  holder           uniqueidentifier, -- the one acquisition that holds it (D-61), or null
  size             AS DATALENGTH(name)
);
ALTER TABLE pawl.lease SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX name ON pawl.lease (name, size);

-- Who waits for a lease, in order of arrival. Waiters that stop saying that
-- they are alive drop out of the line.
CREATE TABLE pawl.lease_waiter (
  ticket      bigint IDENTITY NOT NULL PRIMARY KEY,
  name        nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  id          uniqueidentifier NOT NULL UNIQUE,
  alive_until datetime2(7) NOT NULL
);
ALTER TABLE pawl.lease_waiter SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX name ON pawl.lease_waiter (name, ticket) INCLUDE (id, alive_until);

-- Timers: see docs/timers.md.
--
-- A timer waits here and becomes a message when it is due: the same id, the same
-- position. Until then the outbox knows nothing of it. Rows alone are locked, never pages:
-- what is claimed lies next to what others claim.

CREATE TABLE pawl.timer (
  id             bigint NOT NULL, -- the position of the message-to-be
  timer_id       uniqueidentifier NOT NULL,
  supplied       bit NOT NULL DEFAULT 0,
  "key"          nvarchar(510) COLLATE Latin1_General_100_BIN2,
  status         smallint NOT NULL DEFAULT 0, -- 0 scheduled, 1 claimed, 2 done, 4 cancelled
  due_time       datetime2(7) NOT NULL,
  at             datetime2(7) NOT NULL, -- when it may be taken: due_time or, after a failed attempt, later
  retry_count    int NOT NULL DEFAULT 0,
  suspect        int NOT NULL DEFAULT 0, -- as in outbox_ready or, of a claimed one, in outbox_claimed
  owner          uniqueidentifier,
  claimed_at     datetime2(7),
  locked_until   datetime2(7),
  lane           bigint NOT NULL,
  topic          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  correlation_id nvarchar(510) COLLATE Latin1_General_100_BIN2,
  headers        nvarchar(max) COLLATE Latin1_General_100_BIN2,
  payload        varbinary(max) NOT NULL, -- emptied by dispatch: the message has it
  created_at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  processed_at   datetime2(7),
  last_error     nvarchar(max) COLLATE Latin1_General_100_BIN2,
  size           AS DATALENGTH("key"),
  PRIMARY KEY (id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
ALTER TABLE pawl.timer SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX pending ON pawl.timer (at, id) WHERE status = 0 WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX suspect ON pawl.timer (at, id) INCLUDE (suspect) WHERE status = 0 AND suspect > 0 WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX claimed ON pawl.timer (owner) WHERE status = 1 WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX past ON pawl.timer (processed_at, id) WHERE status >= 2 WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE UNIQUE INDEX supplied ON pawl.timer (timer_id) WHERE supplied = 1 WITH (ALLOW_PAGE_LOCKS = OFF);
-- One pending timer a key. Whoever schedules a key again takes it from a claimed one.
CREATE UNIQUE INDEX keyed ON pawl.timer ("key", size) WHERE "key" IS NOT NULL AND status < 2 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Jobs: see docs/jobs.md.
--
-- Locks are taken in this order: the job, its runs, what holds their messages.

CREATE TABLE pawl.job (
  seq           bigint IDENTITY NOT NULL PRIMARY KEY,
  id            uniqueidentifier NOT NULL UNIQUE,
  name          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  topic         nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  payload       varbinary(max) NOT NULL,
  headers       nvarchar(max) COLLATE Latin1_General_100_BIN2,
  lane          bigint NOT NULL,
  schedule      nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  zone          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  misfire       smallint NOT NULL, -- 0 once, 1 none, 2 all
  misfire_limit int NOT NULL,      -- of all
  overlap       smallint NOT NULL, -- 0 allowed, 1 skip
  spread        bigint NOT NULL,   -- microseconds
  shift         bigint NOT NULL,   -- this job's part of them
  enabled       bit NOT NULL DEFAULT 1,
  next_time     datetime2(7),      -- nominal time of the next run; null: none
  due_at        datetime2(7),      -- when to make it: next_time + shift, or when to look again at a broken job
  last_run      bigint,
  last_error    nvarchar(max) COLLATE Latin1_General_100_BIN2,  -- why its schedule cannot be followed
  version       bigint NOT NULL DEFAULT 1, -- grows with every change but those of the two times
  created_at    datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  updated_at    datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  size          AS DATALENGTH(name)
);
ALTER TABLE pawl.job SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX name ON pawl.job (name, size);
CREATE INDEX due ON pawl.job (due_at, id) WHERE due_at IS NOT NULL;

-- A run is its message: id is the message's position. As long as outcome is null
-- the message's place says what has become of it; job_settle writes it down
-- before the outbox forgets the message.
CREATE TABLE pawl.job_run (
  id             bigint NOT NULL PRIMARY KEY,
  run_id         uniqueidentifier NOT NULL, -- the message's id
  job_id         uniqueidentifier NOT NULL,
  job_name       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  scheduled_time datetime2(7) NOT NULL, -- nominal
  triggered      bit NOT NULL DEFAULT 0,
  missed         bigint NOT NULL DEFAULT 0, -- of outcome 6: how many times, scheduled_time being the first
  outcome        smallint, -- as the outbox has it: 2 succeeded, 4 discarded; 5 skipped, 6 missed
  created_at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  start_time     datetime2(7),
  end_time       datetime2(7),
  retry_count    int NOT NULL DEFAULT 0,
  claimed_by     nvarchar(510) COLLATE Latin1_General_100_BIN2,
  last_error     nvarchar(max) COLLATE Latin1_General_100_BIN2
);
ALTER TABLE pawl.job_run SET (LOCK_ESCALATION = DISABLE);
-- One run a nominal time, whoever makes it (D-82).
CREATE UNIQUE INDEX nominal ON pawl.job_run (job_id, scheduled_time) WHERE triggered = 0;
CREATE INDEX job_name ON pawl.job_run (job_name, scheduled_time, id);
CREATE INDEX running ON pawl.job_run (job_id, id) INCLUDE (outcome) WHERE outcome IS NULL;
CREATE INDEX ended ON pawl.job_run (end_time) WHERE outcome IS NOT NULL;

-- Operating pawl: who did what, what is paused, which workers there are; see
-- docs/operating.md.

-- What operators did. A row grows while its operation, in many transactions, does. actor is who was
-- named, db_user who the server knows.
CREATE TABLE pawl.audit_trail (
  seq    bigint IDENTITY NOT NULL PRIMARY KEY,
  id     uniqueidentifier NOT NULL UNIQUE,
  at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  actor  nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  db_user nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT ORIGINAL_LOGIN(),
  action nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  target nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  reason nvarchar(max) COLLATE Latin1_General_100_BIN2,
  n      bigint NOT NULL
);
ALTER TABLE pawl.audit_trail SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX at ON pawl.audit_trail (at, id);

-- Bulk acts on failed messages that workers work off in steps, in the order of positions.
CREATE TABLE pawl.outbox_bulk (
  seq           bigint IDENTITY NOT NULL PRIMARY KEY,
  id            uniqueidentifier NOT NULL UNIQUE, -- also of the entry of the audit trail that counts what it changed
  action        nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CHECK (action IN (N'redrive', N'discard')),
  ids           nvarchar(max) COLLATE Latin1_General_100_BIN2, -- what it selects, null: any; this is a JSON array of positions
  topic         nvarchar(510) COLLATE Latin1_General_100_BIN2,
  queue         nvarchar(510) COLLATE Latin1_General_100_BIN2,
  error         nvarchar(max) COLLATE Latin1_General_100_BIN2,
  failed_since  datetime2(7),
  failed_before datetime2(7) NOT NULL, -- not later than created_at: what fails afterwards is left alone
  most          bigint,
  rate          int NOT NULL CHECK (rate >= 0), -- a second; 0: no limit
  target        nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  actor         nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  reason        nvarchar(max) COLLATE Latin1_General_100_BIN2,
  total         bigint NOT NULL, -- how many messages it selected when it was stored
  n             bigint NOT NULL DEFAULT 0, -- how many it has changed
  last          bigint NOT NULL DEFAULT 0, -- the position up to which it has come
  created_at    datetime2(7) NOT NULL,
  at            datetime2(7) NOT NULL, -- when the next step may begin
  stepped_at    datetime2(7),
  ended_at      datetime2(7),
  stopped_by    nvarchar(510) COLLATE Latin1_General_100_BIN2 -- who stopped it before its end
);
ALTER TABLE pawl.outbox_bulk SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX due ON pawl.outbox_bulk (at) WHERE ended_at IS NULL;

-- What is paused. Of a queue nothing is claimed. Messages of a topic are laid
-- aside when they are claimed: into a lane that no queue has, so that each is met
-- once, and everything that looks for messages still finds them.
CREATE TABLE pawl.outbox_pause (
  seq    bigint IDENTITY NOT NULL PRIMARY KEY,
  kind   nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CHECK (kind IN (N'queue', N'topic')),
  name   nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  lane   bigint NOT NULL, -- where a topic's messages are laid aside
  at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  actor  nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  reason nvarchar(max) COLLATE Latin1_General_100_BIN2,
  ending bit NOT NULL DEFAULT 0, -- it is over, but not all is back yet
  size   AS DATALENGTH(name)
);
ALTER TABLE pawl.outbox_pause SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX name ON pawl.outbox_pause (kind, name, size);

-- Processes that work on this database. One that crashed stays until somebody
-- tidies up: it is known by its expiry.
CREATE TABLE pawl.worker_process (
  seq          bigint IDENTITY NOT NULL PRIMARY KEY,
  id           uniqueidentifier NOT NULL UNIQUE,
  name         nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  host         nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  pid          bigint NOT NULL,
  version      nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  started_at   datetime2(7) NOT NULL,
  heartbeat_at datetime2(7) NOT NULL,
  expires_at   datetime2(7) NOT NULL,
  queues       nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL, -- JSON arrays
  topics       nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  concurrency  bigint NOT NULL,
  in_flight    bigint NOT NULL,
  overdue      nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT N'[]', -- positions of messages whose handlers ignore their time-out
  shared       bit NOT NULL -- it works on many databases, taking turns
);
ALTER TABLE pawl.worker_process SET (LOCK_ESCALATION = DISABLE);
