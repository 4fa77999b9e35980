-- Joins: see docs/joins.md. The views at the end are the seed's OutboxJoin and
-- OutboxJoinMember, with readable ids and times.

CREATE TABLE pawl.outbox_join_base (
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
CREATE INDEX pawl.outbox_join_group ON pawl.outbox_join_base (grouping_key, join_id) WHERE grouping_key IS NOT NULL;
CREATE INDEX pawl.outbox_join_outcome ON pawl.outbox_join_base (status, join_id);

-- id is the message's position: ack and fail look for pending members by runs.
CREATE TABLE pawl.outbox_join_member_base (
  join_id           BLOB NOT NULL,
  outbox_message_id BLOB NOT NULL,
  id                INTEGER NOT NULL,
  status            INTEGER NOT NULL DEFAULT 0, -- 0 pending, 1 completed, 2 failed
  created_utc       INTEGER NOT NULL,
  PRIMARY KEY (join_id, outbox_message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pawl.outbox_join_member_place ON pawl.outbox_join_member_base (status, id);

-- The join.wait messages of a join, by position.
CREATE TABLE pawl.outbox_join_wait (
  id      INTEGER PRIMARY KEY,
  join_id BLOB NOT NULL
) STRICT;
CREATE INDEX pawl.outbox_join_wait_join ON pawl.outbox_join_wait (join_id);

CREATE VIEW pawl.outbox_join AS
SELECT lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
         || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21)) AS join_id,
       grouping_key, expected_steps, completed_steps, failed_steps, status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_utc / 1e6, 'unixepoch') AS created_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_updated_utc / 1e6, 'unixepoch') AS last_updated_utc,
       metadata,
       strftime('%Y-%m-%dT%H:%M:%fZ', deadline_utc / 1e6, 'unixepoch') AS deadline_utc
  FROM pawl.outbox_join_base;

CREATE VIEW pawl.outbox_join_member AS
SELECT lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
         || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21)) AS join_id,
       lower(substr(hex(outbox_message_id), 1, 8) || '-' || substr(hex(outbox_message_id), 9, 4) || '-' || substr(hex(outbox_message_id), 13, 4)
         || '-' || substr(hex(outbox_message_id), 17, 4) || '-' || substr(hex(outbox_message_id), 21)) AS outbox_message_id,
       id, status,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_utc / 1e6, 'unixepoch') AS created_utc
  FROM pawl.outbox_join_member_base;
