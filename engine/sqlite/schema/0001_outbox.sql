-- The run layout: see docs/layout.md. Times are microseconds since 1970, UTC.

-- The last id handed out. REPLACE gives the row a new rowid, so that one INSERT
-- both reserves ids and reports them as the last inserted rowid: all a caller's
-- transaction lets us read back.
CREATE TABLE pawl.outbox_sequence (
  last INTEGER PRIMARY KEY,
  one  INTEGER NOT NULL UNIQUE CHECK (one = 1)
) STRICT;
INSERT INTO pawl.outbox_sequence (last, one) VALUES (0, 1);

-- A lane is a queue at one priority. Its id is a hash of both, so that a
-- producer knows it without asking.
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
  PRIMARY KEY (lane, at, lo)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pawl.outbox_ready_lo ON pawl.outbox_ready (lo);

-- Runs under lease, with what is needed to put them back.
CREATE TABLE pawl.outbox_claim (
  lo           INTEGER PRIMARY KEY,
  n            INTEGER NOT NULL CHECK (n > 0),
  lane         INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  retry        INTEGER NOT NULL,
  owner        BLOB NOT NULL,
  locked_until INTEGER NOT NULL
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

-- Every message with its place. Each place is one predecessor probe.
CREATE VIEW pawl.outbox_item AS
SELECT m.id, m.message_id, m.topic, m.correlation_id, m.headers, m.payload, m.created_at, m.due_at,
       l.queue, l.priority,
       CASE WHEN r.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 ELSE coalesce(e.status, 0) END AS status,
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

-- The seed's Outbox table, column for column (D-102), with readable times.
CREATE VIEW pawl.outbox AS
SELECT id, topic, payload,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1e6, 'unixepoch') AS created_at,
       status,
       strftime('%Y-%m-%dT%H:%M:%fZ', locked_until / 1e6, 'unixepoch') AS locked_until,
       CASE WHEN owner_token IS NOT NULL THEN lower(substr(hex(owner_token), 1, 8) || '-' || substr(hex(owner_token), 9, 4) || '-' || substr(hex(owner_token), 13, 4)
         || '-' || substr(hex(owner_token), 17, 4) || '-' || substr(hex(owner_token), 21)) END AS owner_token,
       status = 2 AS is_processed,
       strftime('%Y-%m-%dT%H:%M:%fZ', processed_at / 1e6, 'unixepoch') AS processed_at,
       processed_by, retry_count, last_error,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_attempt_at / 1e6, 'unixepoch') AS next_attempt_at,
       lower(substr(hex(message_id), 1, 8) || '-' || substr(hex(message_id), 9, 4) || '-' || substr(hex(message_id), 13, 4)
         || '-' || substr(hex(message_id), 17, 4) || '-' || substr(hex(message_id), 21)) AS message_id,
       correlation_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1e6, 'unixepoch') AS due_time_utc,
       headers, queue, priority
  FROM pawl.outbox_item;
