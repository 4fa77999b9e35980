-- lowest: 5
-- Durable flows: see docs/flows.md. Rows are written once, and deleted with the message of their flow.

-- What a run of a flow need not do again. kind: 0 done, 1 failed, 2 begun, 3 timed out, 4 the flow is ending.
CREATE TABLE pawl.flow_step (
  id         INTEGER NOT NULL, -- the position of the flow's message
  name       TEXT NOT NULL,
  kind       INTEGER NOT NULL,
  nr         INTEGER NOT NULL, -- the order in which they were written
  retry      INTEGER NOT NULL, -- how many attempts of the message had failed
  signal     INTEGER NOT NULL, -- the number of the signal that it took, or 0
  created_at INTEGER NOT NULL,
  result     BLOB NOT NULL,
  PRIMARY KEY (id, name, kind)
) STRICT, WITHOUT ROWID;

-- Signals, until their flow takes them and after. The name of the one that cancels is empty.
CREATE TABLE pawl.flow_signal (
  id         INTEGER NOT NULL,
  nr         INTEGER NOT NULL,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  payload    BLOB NOT NULL,
  PRIMARY KEY (id, nr)
) STRICT, WITHOUT ROWID;

-- What a parked flow waits for: a signal, or nothing but its time if the name is empty.
CREATE TABLE pawl.flow_wait (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  since INTEGER NOT NULL,
  retry INTEGER NOT NULL -- how many attempts of the message had failed
) STRICT;

-- What handlers returned of messages that are no steps of joins.
CREATE TABLE pawl.outbox_result (
  id     INTEGER PRIMARY KEY,
  result BLOB NOT NULL
) STRICT;

-- What is to be stopped while it runs.
CREATE TABLE pawl.outbox_stopping (
  id     INTEGER PRIMARY KEY,
  owner  BLOB, -- whose attempt is to end; NULL: anybody's, and the message is cancelled
  reason TEXT NOT NULL,
  at     INTEGER NOT NULL
) STRICT;

-- What handlers say of how far they are, with the heartbeat of their process: a JSON array.
ALTER TABLE pawl.worker_process ADD COLUMN progress TEXT NOT NULL DEFAULT '[]';
