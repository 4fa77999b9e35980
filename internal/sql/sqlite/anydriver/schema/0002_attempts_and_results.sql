-- lowest: 2

-- The last attempts of a message that failed. Nothing is written for one that succeeds at
-- once. Numbers of attempts begin anew when a message is redriven, so they are no key.
CREATE TABLE pawl.outbox_attempt (
  nr       INTEGER PRIMARY KEY,
  id       INTEGER NOT NULL,
  attempt  INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  worker   TEXT,
  error    TEXT
) STRICT;
CREATE INDEX pawl.outbox_attempt_message ON pawl.outbox_attempt (id, nr);

-- What a handler of a step returned, for the join's follow-up. Nothing is written for one that
-- returned nothing.
CREATE TABLE pawl.outbox_join_result (
  join_id BLOB NOT NULL,
  id      INTEGER NOT NULL, -- the step's position
  result  BLOB NOT NULL,
  PRIMARY KEY (join_id, id)
) STRICT, WITHOUT ROWID;
