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
CREATE INDEX pawl.timer_claimed ON pawl.timer (owner) WHERE status = 1;
CREATE INDEX pawl.timer_over ON pawl.timer (processed_at, id) WHERE status >= 2;
CREATE UNIQUE INDEX pawl.timer_supplied ON pawl.timer (timer_id) WHERE supplied = 1;
-- One pending timer a key. Whoever schedules a key again takes it from a claimed one.
CREATE UNIQUE INDEX pawl.timer_key ON pawl.timer (key) WHERE key IS NOT NULL AND status < 2;

-- The seed's Timers table, column for column (D-102), with readable ids and
-- times. The payload of a dispatched one is in the outbox, under the same id.
CREATE VIEW pawl.timers AS
SELECT lower(substr(hex(t.timer_id), 1, 8) || '-' || substr(hex(t.timer_id), 9, 4) || '-' || substr(hex(t.timer_id), 13, 4)
         || '-' || substr(hex(t.timer_id), 17, 4) || '-' || substr(hex(t.timer_id), 21)) AS id,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.due_time / 1e6, 'unixepoch') AS due_time,
       t.payload, t.topic, t.correlation_id, t.status AS status_code,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.locked_until / 1e6, 'unixepoch') AS locked_until,
       CASE WHEN t.owner IS NOT NULL THEN lower(substr(hex(t.owner), 1, 8) || '-' || substr(hex(t.owner), 9, 4) || '-' || substr(hex(t.owner), 13, 4)
         || '-' || substr(hex(t.owner), 17, 4) || '-' || substr(hex(t.owner), 21)) END AS owner_token,
       CASE t.status WHEN 0 THEN 'Pending' WHEN 1 THEN 'InProgress' WHEN 2 THEN 'Done' ELSE 'Cancelled' END AS status,
       CASE WHEN t.owner IS NOT NULL THEN lower(substr(hex(t.owner), 1, 8) || '-' || substr(hex(t.owner), 9, 4) || '-' || substr(hex(t.owner), 13, 4)
         || '-' || substr(hex(t.owner), 17, 4) || '-' || substr(hex(t.owner), 21)) END AS claimed_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.claimed_at / 1e6, 'unixepoch') AS claimed_at,
       t.retry_count,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.created_at / 1e6, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.processed_at / 1e6, 'unixepoch') AS processed_at,
       t.last_error, t.key, t.headers, l.queue, l.priority
  FROM pawl.timer t JOIN pawl.outbox_lane l ON l.id = t.lane;
