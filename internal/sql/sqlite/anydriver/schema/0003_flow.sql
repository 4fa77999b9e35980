-- lowest: 3

-- A queue with ordering keys has three lanes of priority 0: of kind 0, from which claims take,
-- of kind 1, to which messages with a key are enqueued, and of kind 2, where those wait whose
-- key has an earlier one. Messages of a topic with a limit are moved to a lane of kind 3 when a
-- claim meets them; its column topic is empty in all others.
ALTER TABLE pawl.outbox_lane RENAME TO pawl.outbox_lane_former;
CREATE TABLE pawl.outbox_lane (
  id       INTEGER PRIMARY KEY,
  queue    TEXT NOT NULL,
  priority INTEGER NOT NULL,
  kind     INTEGER NOT NULL DEFAULT 0,
  topic    TEXT NOT NULL DEFAULT '',
  asked    INTEGER, -- of a limit's: when a claim last found no room for what is in it
  UNIQUE (queue, kind, priority, topic)
) STRICT;
INSERT INTO pawl.outbox_lane (id, queue, priority) SELECT id, queue, priority FROM pawl.outbox_lane_former;
DROP TABLE pawl.outbox_lane_former;
CREATE INDEX pawl.outbox_lane_topic ON pawl.outbox_lane (topic) WHERE kind = 3;

-- Messages with an ordering key, from when they were put in order until they end. One of each
-- key is the head: it alone may be claimed.
CREATE TABLE pawl.outbox_order (
  id    INTEGER PRIMARY KEY,
  lane  INTEGER NOT NULL, -- to which it was enqueued: the queue's of kind 1
  "key" TEXT NOT NULL,
  head  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX pawl.outbox_order_head ON pawl.outbox_order (lane, "key") WHERE head;
CREATE INDEX pawl.outbox_order_line ON pawl.outbox_order (lane, "key", id);

-- Which message took a unique key last. A message without a key writes and reads nothing here.
CREATE TABLE pawl.outbox_unique (
  key         TEXT PRIMARY KEY,
  id          INTEGER NOT NULL, -- its position; 0: it was deleted before its period is over
  message_id  BLOB NOT NULL,
  enqueued_at INTEGER NOT NULL,
  until       INTEGER -- the end of its period
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.outbox_unique_message ON pawl.outbox_unique (id, until);

-- How many messages of a topic or queue may run at once, and how many may begin in a time.
CREATE TABLE pawl.outbox_limit (
  kind        TEXT NOT NULL CHECK (kind IN ('queue', 'topic')),
  name        TEXT NOT NULL,
  concurrency INTEGER CHECK (concurrency > 0),
  rate        INTEGER CHECK (rate > 0), -- in each period
  period      INTEGER NOT NULL CHECK (period > 0),
  burst       INTEGER NOT NULL CHECK (burst > 0),
  next_at     INTEGER NOT NULL DEFAULT 0, -- when the next one may be claimed, by the rate
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  reason      TEXT,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Claimed messages that count against a limit's concurrency. Those that are no longer claimed are
-- deleted before they are counted, so that nothing else needs to know of them.
CREATE TABLE pawl.outbox_limit_claim (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  id   INTEGER NOT NULL,
  PRIMARY KEY (kind, name, id)
) STRICT, WITHOUT ROWID;
