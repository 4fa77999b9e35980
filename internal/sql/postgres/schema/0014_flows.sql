-- lowest: 5
-- Durable flows: see docs/flows.md. Rows are written once, and deleted with the message of their flow.

-- They have another parameter.
DROP FUNCTION IF EXISTS pawl.outbox_redrive(bigint[]);
DROP FUNCTION IF EXISTS pawl.outbox_claim(uuid, integer, integer, text);
DROP FUNCTION IF EXISTS pawl.outbox_claim_any(text, uuid, interval, integer, integer, timestamptz);
DROP FUNCTION IF EXISTS pawl.timer_dispatch(integer);
DROP FUNCTION IF EXISTS pawl.timer_make_way(timestamptz, integer);
DROP FUNCTION IF EXISTS pawl.outbox_join_park(uuid, uuid, bigint);
DROP FUNCTION IF EXISTS pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[], boolean, boolean[], text, integer, boolean[], text[]);

-- What a run of a flow need not do again. kind: 0 done, 1 failed, 2 begun, 3 timed out, 4 the flow is ending.
CREATE TABLE pawl.flow_step (
  id         bigint NOT NULL, -- the position of the flow's message
  name       text COLLATE "C" NOT NULL,
  kind       smallint NOT NULL,
  nr         integer NOT NULL, -- the order in which they were written
  retry      integer NOT NULL, -- how many attempts of the message had failed
  signal     integer NOT NULL, -- the number of the signal that it took, or 0
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  result     bytea NOT NULL,
  PRIMARY KEY (id, name, kind)
);

-- Signals, until their flow takes them and after. The name of the one that cancels is empty.
CREATE TABLE pawl.flow_signal (
  id         bigint NOT NULL,
  nr         integer NOT NULL,
  name       text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  payload    bytea NOT NULL,
  PRIMARY KEY (id, nr)
);

-- What a parked flow waits for: a signal, or nothing but its time if the name is empty.
CREATE TABLE pawl.flow_wait (
  id    bigint PRIMARY KEY,
  name  text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  retry integer NOT NULL -- how many attempts of the message had failed
);

-- What handlers returned of messages that are no steps of joins.
CREATE TABLE pawl.outbox_result (
  id     bigint PRIMARY KEY,
  result bytea NOT NULL
);

-- What is to be stopped while it runs.
CREATE TABLE pawl.outbox_stopping (
  id     bigint PRIMARY KEY,
  owner  uuid, -- whose attempt is to end; NULL: anybody's, and the message is cancelled
  reason text NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What handlers say of how far they are, with the heartbeat of their process: a JSON array.
ALTER TABLE pawl.worker_process ADD COLUMN progress text NOT NULL DEFAULT '[]';
