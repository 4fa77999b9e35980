-- The run layout: see docs/layout.md. Times are microseconds since 1970, UTC.

-- Which history of this database this is: docs/decisions/0016-generation.md. One row,
-- written anew whenever the history changed. number grows with each: milliseconds
-- since 2024 where that is more than one more. place is the file that it was written
-- in, as the system tells files apart: in a copy it is another one.
CREATE TABLE pawl.generation (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  id     BLOB NOT NULL,
  number INTEGER NOT NULL,
  since  INTEGER NOT NULL,
  place  TEXT
) STRICT;
INSERT INTO pawl.generation (one, id, number, since)
VALUES (1, randomblob(16), max(1, CAST(unixepoch('subsec') * 1000 AS INTEGER) - 1704067200000), CAST(unixepoch('subsec') * 1000000 AS INTEGER));

-- The last id handed out. REPLACE gives the row a new rowid, so that one INSERT
-- both reserves ids and reports them as the last inserted rowid: all a caller's
-- transaction lets us read back.
CREATE TABLE pawl.outbox_sequence (
  last INTEGER PRIMARY KEY,
  one  INTEGER NOT NULL UNIQUE CHECK (one = 1)
) STRICT;
INSERT INTO pawl.outbox_sequence (last, one) VALUES (0, 1);

-- A lane is a queue at one priority, or of another kind: see docs/claim.md. Its id is a
-- hash of its name, so that a producer knows it without asking.
CREATE TABLE pawl.outbox_lane (
  id       INTEGER PRIMARY KEY,
  queue    TEXT NOT NULL,
  priority INTEGER NOT NULL,
  UNIQUE (queue, priority)
) STRICT;
-- md5('default/0'), first 8 bytes: what most programs use is known from the start.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (4828129222919567135, 'default', 0);

-- One row per message, written once and never updated. payload is TEXT where it
-- is valid UTF-8 and BLOB elsewhere, so that SQL can read what a person can.
CREATE TABLE pawl.outbox_message (
  id             INTEGER PRIMARY KEY,
  message_id     BLOB NOT NULL,
  supplied       INTEGER NOT NULL DEFAULT 0,
  lane           INTEGER NOT NULL,
  topic          TEXT NOT NULL,
  correlation_id TEXT,
  headers        TEXT,
  payload        ANY NOT NULL,
  created_at     INTEGER NOT NULL,
  due_at         INTEGER
) STRICT;

-- Ids that callers supplied deduplicate; ids that pawl makes carry their
-- position and need no index (a unique index on random values costs 4 x).
CREATE UNIQUE INDEX pawl.outbox_message_supplied ON pawl.outbox_message (message_id) WHERE supplied = 1;

-- Runs that may be claimed at or after "at".
CREATE TABLE pawl.outbox_ready (
  lane  INTEGER NOT NULL,
  at    INTEGER NOT NULL,
  lo    INTEGER NOT NULL,
  n     INTEGER NOT NULL CHECK (n > 0),
  retry INTEGER NOT NULL DEFAULT 0,
  suspect INTEGER NOT NULL DEFAULT 0, -- above 0: a claim of it expired; it is claimed with other suspects alone, so many messages at most
  PRIMARY KEY (lane, at, lo)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pawl.outbox_ready_lo ON pawl.outbox_ready (lo);
CREATE INDEX pawl.outbox_ready_suspect ON pawl.outbox_ready (lane, at, lo) WHERE suspect > 0;

-- Runs under lease, with what is needed to put them back.
CREATE TABLE pawl.outbox_claim (
  lo           INTEGER PRIMARY KEY,
  n            INTEGER NOT NULL CHECK (n > 0),
  lane         INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  retry        INTEGER NOT NULL,
  owner        BLOB NOT NULL,
  locked_until INTEGER NOT NULL,
  suspect      INTEGER NOT NULL DEFAULT 0 -- above 0: how many suspects the claim took
) STRICT;

-- Runs that were acked.
CREATE TABLE pawl.outbox_done (
  lo           INTEGER PRIMARY KEY,
  n            INTEGER NOT NULL CHECK (n > 0),
  processed_at INTEGER NOT NULL,
  owner        BLOB NOT NULL,
  processed_by TEXT
) STRICT;

-- Messages that went wrong at least once. 0: retried, 3: failed, 4: discarded.
CREATE TABLE pawl.outbox_exception (
  id              INTEGER PRIMARY KEY,
  status          INTEGER NOT NULL,
  retry_count     INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER,
  last_error      TEXT,
  redrives        INTEGER NOT NULL DEFAULT 0,
  updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.outbox_exception_dead ON pawl.outbox_exception (status, id) WHERE status >= 3;

-- Joins: see docs/joins.md. Views show ids and times in readable form.

CREATE TABLE pawl.outbox_join (
  join_id          BLOB PRIMARY KEY,
  grouping_key     TEXT,
  expected_steps   INTEGER NOT NULL CHECK (expected_steps > 0),
  completed_steps  INTEGER NOT NULL DEFAULT 0,
  failed_steps     INTEGER NOT NULL DEFAULT 0,
  status           INTEGER NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed, 3 cancelled
  created_utc      INTEGER NOT NULL,
  last_updated_utc INTEGER NOT NULL,
  metadata         TEXT,
  deadline_utc     INTEGER,
  CHECK (completed_steps + failed_steps <= expected_steps)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.outbox_join_group ON pawl.outbox_join (grouping_key, join_id) WHERE grouping_key IS NOT NULL;
CREATE INDEX pawl.outbox_join_outcome ON pawl.outbox_join (status, join_id);

-- id is the message's position: ack and fail look for pending members by runs.
CREATE TABLE pawl.outbox_join_member (
  join_id           BLOB NOT NULL,
  outbox_message_id BLOB NOT NULL,
  id                INTEGER NOT NULL,
  status            INTEGER NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed
  created_utc       INTEGER NOT NULL,
  PRIMARY KEY (join_id, outbox_message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.outbox_join_member_place ON pawl.outbox_join_member (status, id);

-- The join.wait messages of a join, by position.
CREATE TABLE pawl.outbox_join_wait (
  id       INTEGER PRIMARY KEY,
  join_id  BLOB NOT NULL,
  replaced INTEGER NOT NULL DEFAULT 0 -- by another one, when the join was redriven
) STRICT;
CREATE INDEX pawl.outbox_join_wait_join ON pawl.outbox_join_wait (join_id);

-- The inbox: see docs/inbox.md. Keyed by source and message id.

CREATE TABLE pawl.inbox (
  source           TEXT NOT NULL,
  message_id       TEXT NOT NULL,
  hash             BLOB,
  first_seen_utc   INTEGER NOT NULL,
  last_seen_utc    INTEGER NOT NULL,
  processed_utc    INTEGER,
  deliveries       INTEGER NOT NULL DEFAULT 1, -- how often it was seen
  attempts         INTEGER NOT NULL DEFAULT 0, -- how often its handler ran, as far as that is known
  mismatches       INTEGER NOT NULL DEFAULT 0, -- deliveries with another hash
  status           TEXT NOT NULL DEFAULT 'Seen' CHECK (status IN ('Seen', 'Processing', 'Done', 'Dead')),
  last_error       TEXT,
  token            BLOB,    -- of the attempt under way
  locked_until_utc INTEGER, -- end of its lease
  PRIMARY KEY (source, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.inbox_open ON pawl.inbox (last_seen_utc) WHERE status = 'Processing';
CREATE INDEX pawl.inbox_done ON pawl.inbox (processed_utc) WHERE status = 'Done';
CREATE INDEX pawl.inbox_dead ON pawl.inbox (source, message_id) WHERE status = 'Dead';

-- Leases: see docs/leases.md. Times are microseconds since 1970, UTC.

-- One row per name. It is never deleted, so that its token never starts anew (D-60).
CREATE TABLE pawl.lease (
  name         TEXT PRIMARY KEY,
  owner        TEXT,
  lease_until_utc  INTEGER,
  last_granted_utc INTEGER,
  token        INTEGER NOT NULL,
  holder       BLOB -- the one acquisition that holds it (D-61), or null
) STRICT, WITHOUT ROWID;

-- Who waits for a lease, in order of arrival. Waiters that stop saying that
-- they are alive drop out of the line. A ticket that comes back is no harm: it
-- is still above all that are left.
CREATE TABLE pawl.lease_waiter (
  ticket      INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  id          BLOB NOT NULL UNIQUE,
  alive_until INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.lease_waiter_line ON pawl.lease_waiter (name, ticket);

-- Timers: see docs/timers.md. A timer waits here and becomes a message when it
-- is due: the same id, the same position. Until then the outbox knows nothing of it.

CREATE TABLE pawl.timer (
  id             INTEGER PRIMARY KEY, -- the position of the message-to-be
  timer_id       BLOB NOT NULL,
  supplied       INTEGER NOT NULL DEFAULT 0,
  key            TEXT,
  status         INTEGER NOT NULL DEFAULT 0, -- 0 scheduled, 1 claimed, 2 done, 4 cancelled
  due_time       INTEGER NOT NULL,
  at             INTEGER NOT NULL, -- when it may be taken: due_time or, after a failed attempt, later
  retry_count    INTEGER NOT NULL DEFAULT 0,
  suspect        INTEGER NOT NULL DEFAULT 0, -- as in outbox_ready or, of a claimed one, in outbox_claim
  owner          BLOB,
  claimed_at     INTEGER,
  locked_until   INTEGER,
  lane           INTEGER NOT NULL,
  topic          TEXT NOT NULL,
  correlation_id TEXT,
  headers        TEXT,
  payload        ANY NOT NULL, -- emptied by dispatch: the message has it
  created_at     INTEGER NOT NULL,
  processed_at   INTEGER,
  last_error     TEXT
) STRICT;
CREATE INDEX pawl.timer_pending ON pawl.timer (at, id) WHERE status = 0;
CREATE INDEX pawl.timer_suspect ON pawl.timer (at, id) WHERE status = 0 AND suspect > 0;
CREATE INDEX pawl.timer_claimed ON pawl.timer (owner) WHERE status = 1;
CREATE INDEX pawl.timer_over ON pawl.timer (processed_at, id) WHERE status >= 2;
CREATE UNIQUE INDEX pawl.timer_supplied ON pawl.timer (timer_id) WHERE supplied = 1;
-- One pending timer a key. Whoever schedules a key again takes it from a claimed one.
CREATE UNIQUE INDEX pawl.timer_key ON pawl.timer (key) WHERE key IS NOT NULL AND status < 2;

-- Jobs: see docs/jobs.md. Views show ids and times in readable form.

CREATE TABLE pawl.job (
  id            BLOB PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  topic         TEXT NOT NULL,
  payload       ANY NOT NULL,
  headers       TEXT,
  lane          INTEGER NOT NULL,
  schedule      TEXT NOT NULL,
  zone          TEXT NOT NULL,
  misfire       INTEGER NOT NULL, -- 0 once, 1 none, 2 all
  misfire_limit INTEGER NOT NULL, -- of all
  overlap       INTEGER NOT NULL, -- 0 allowed, 1 skip
  spread        INTEGER NOT NULL, -- microseconds
  shift         INTEGER NOT NULL, -- this job's part of them
  enabled       INTEGER NOT NULL DEFAULT 1,
  next_time     INTEGER,          -- nominal time of the next run; null: none
  due_at        INTEGER,          -- when to make it: next_time + shift, or when to look again at a broken job
  last_run      INTEGER,
  last_error    TEXT,             -- why its schedule cannot be followed
  version       INTEGER NOT NULL DEFAULT 1, -- grows with every change but those of the two times
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.job_due ON pawl.job (due_at, id) WHERE due_at IS NOT NULL;

-- A run is its message: id is the message's position. As long as outcome is null
-- the message's place says what has become of it; job/settle writes it down
-- before the outbox forgets the message.
CREATE TABLE pawl.job_run (
  id             INTEGER PRIMARY KEY,
  run_id         BLOB NOT NULL, -- the message's id
  job_id         BLOB NOT NULL,
  job_name       TEXT NOT NULL,
  scheduled_time INTEGER NOT NULL, -- nominal
  triggered      INTEGER NOT NULL DEFAULT 0,
  missed         INTEGER NOT NULL DEFAULT 0, -- of outcome 6: how many times, scheduled_time being the first
  outcome        INTEGER, -- as the outbox has it: 2 succeeded, 4 discarded; 5 skipped, 6 missed
  created_at     INTEGER NOT NULL,
  start_time     INTEGER,
  end_time       INTEGER,
  retry_count    INTEGER NOT NULL DEFAULT 0,
  claimed_by     TEXT,
  last_error     TEXT
) STRICT;
-- One run a nominal time, whoever makes it (D-82).
CREATE UNIQUE INDEX pawl.job_run_once ON pawl.job_run (job_id, scheduled_time) WHERE triggered = 0;
CREATE INDEX pawl.job_run_history ON pawl.job_run (job_name, scheduled_time, id);
CREATE INDEX pawl.job_run_open ON pawl.job_run (job_id, id) WHERE outcome IS NULL;
CREATE INDEX pawl.job_run_over ON pawl.job_run (end_time) WHERE outcome IS NOT NULL;

-- Operating pawl: who did what, what is paused, which workers there are; see
-- docs/operating.md.

-- What operators did. A row grows while its operation, in many transactions, does.
CREATE TABLE pawl.audit_trail (
  id     BLOB PRIMARY KEY,
  at     INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  db_user TEXT NOT NULL DEFAULT '', -- a file knows no users
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  reason TEXT,
  n      INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.audit_trail_at ON pawl.audit_trail (at, id);

-- Bulk acts on failed messages that workers work off in steps, in the order of positions.
CREATE TABLE pawl.outbox_bulk (
  id            BLOB PRIMARY KEY, -- also of the entry of the audit trail that counts what it changed
  action        TEXT NOT NULL CHECK (action IN ('redrive', 'discard')),
  ids           TEXT, -- what it selects, null: any; this is a JSON array of positions
  topic         TEXT,
  queue         TEXT,
  error         TEXT,
  failed_since  INTEGER,
  failed_before INTEGER NOT NULL, -- not later than created_at: what fails afterwards is left alone
  most          INTEGER,
  rate          INTEGER NOT NULL CHECK (rate >= 0), -- a second; 0: no limit
  target        TEXT NOT NULL,
  actor         TEXT NOT NULL,
  reason        TEXT,
  total         INTEGER NOT NULL, -- how many messages it selected when it was stored
  n             INTEGER NOT NULL DEFAULT 0, -- how many it has changed
  last          INTEGER NOT NULL DEFAULT 0, -- the position up to which it has come
  created_at    INTEGER NOT NULL,
  at            INTEGER NOT NULL, -- when the next step may begin
  stepped_at    INTEGER,
  ended_at      INTEGER,
  stopped_by    TEXT -- who stopped it before its end
) STRICT;
CREATE INDEX pawl.outbox_bulk_due ON pawl.outbox_bulk (at) WHERE ended_at IS NULL;

-- What is paused. Of a queue nothing is claimed. Messages of a topic are laid
-- aside when they are claimed: into a lane that no queue has, so that each is met
-- once, and everything that looks for messages still finds them.
CREATE TABLE pawl.outbox_pause (
  kind   TEXT NOT NULL CHECK (kind IN ('queue', 'topic')),
  name   TEXT NOT NULL,
  lane   INTEGER NOT NULL, -- where a topic's messages are laid aside
  at     INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  reason TEXT,
  ending INTEGER NOT NULL DEFAULT 0, -- it is over, but not all is back yet
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Processes that work on this database. One that crashed stays until somebody
-- tidies up: it is known by its expiry.
CREATE TABLE pawl.worker_process (
  id           BLOB PRIMARY KEY,
  name         TEXT NOT NULL,
  host         TEXT NOT NULL,
  pid          INTEGER NOT NULL,
  version      TEXT NOT NULL,
  started_at   INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  queues       TEXT NOT NULL, -- JSON arrays
  topics       TEXT NOT NULL,
  concurrency  INTEGER NOT NULL,
  in_flight    INTEGER NOT NULL,
  overdue      TEXT NOT NULL DEFAULT '[]', -- positions of messages whose handlers ignore their time-out
  shared       INTEGER NOT NULL -- it works on many databases, taking turns
) STRICT;
