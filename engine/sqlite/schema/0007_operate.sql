-- Operating pawl: who did what, what is paused, which workers there are; see
-- docs/operating.md.

-- What operators did. A row grows while its operation, in many transactions, does.
CREATE TABLE pawl.audit_trail (
  id     BLOB PRIMARY KEY,
  at     INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  n      INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.audit_trail_at ON pawl.audit_trail (at, id);

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
  shared       INTEGER NOT NULL -- it works on many databases, taking turns
) STRICT;
