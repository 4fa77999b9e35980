-- lowest: 4
-- A limit of kind 'each' holds for each of the topics that begin as its name does, before the *. Such
-- a topic has a row of its own while the limit is in use there, whose column pattern says of which
-- limit; that is empty in limits that somebody set.
ALTER TABLE pawl.outbox_limit RENAME TO pawl.outbox_limit_former;
CREATE TABLE pawl.outbox_limit (
  kind        TEXT NOT NULL CHECK (kind IN ('queue', 'topic', 'each')),
  name        TEXT NOT NULL,
  concurrency INTEGER CHECK (concurrency > 0),
  rate        INTEGER CHECK (rate > 0), -- in each period
  period      INTEGER NOT NULL CHECK (period > 0),
  burst       INTEGER NOT NULL CHECK (burst > 0),
  next_at     INTEGER NOT NULL DEFAULT 0, -- when the next one may be claimed, by the rate
  at          INTEGER NOT NULL,
  actor       TEXT NOT NULL,
  reason      TEXT,
  pattern     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, next_at, at, actor, reason)
SELECT kind, name, concurrency, rate, period, burst, next_at, at, actor, reason FROM pawl.outbox_limit_former;
DROP TABLE pawl.outbox_limit_former;
CREATE INDEX pawl.outbox_limit_pattern ON pawl.outbox_limit (pattern) WHERE pattern <> '';
