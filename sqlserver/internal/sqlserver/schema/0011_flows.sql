-- lowest: 5
-- Durable flows: see docs/flows.md. Rows are written once, and deleted with the message of their flow.

-- What a run of a flow need not do again. kind: 0 done, 1 failed, 2 begun, 3 timed out, 4 the flow is ending.
CREATE TABLE pawl.flow_step (
  id         bigint NOT NULL, -- the position of the flow's message
  name       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  kind       smallint NOT NULL,
  nr         int NOT NULL, -- the order in which they were written
  retry      int NOT NULL, -- how many attempts of the message had failed
  signal     int NOT NULL, -- the number of the signal that it took, or 0
  created_at datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  result     varbinary(max) NOT NULL,
  seq        bigint IDENTITY NOT NULL PRIMARY KEY,
  size       AS DATALENGTH(name), -- spaces at the end of a text do not count for =
  UNIQUE (id, name, kind, size)
);
ALTER TABLE pawl.flow_step SET (LOCK_ESCALATION = DISABLE);

-- Signals, until their flow takes them and after. The name of the one that cancels is empty.
CREATE TABLE pawl.flow_signal (
  id         bigint NOT NULL,
  nr         int NOT NULL,
  name       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  created_at datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  payload    varbinary(max) NOT NULL,
  PRIMARY KEY (id, nr)
);
ALTER TABLE pawl.flow_signal SET (LOCK_ESCALATION = DISABLE);

-- What a parked flow waits for: a signal, or nothing but its time if the name is empty.
CREATE TABLE pawl.flow_wait (
  id    bigint NOT NULL PRIMARY KEY,
  name  nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  since datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  retry int NOT NULL -- how many attempts of the message had failed
);
ALTER TABLE pawl.flow_wait SET (LOCK_ESCALATION = DISABLE);

-- What handlers returned of messages that are no steps of joins.
CREATE TABLE pawl.outbox_result (
  id     bigint NOT NULL PRIMARY KEY,
  result varbinary(max) NOT NULL
);
ALTER TABLE pawl.outbox_result SET (LOCK_ESCALATION = DISABLE);

-- What is to be stopped while it runs.
CREATE TABLE pawl.outbox_stopping (
  id     bigint NOT NULL PRIMARY KEY,
  owner  uniqueidentifier, -- whose attempt is to end; NULL: anybody's, and the message is cancelled
  reason nvarchar(max) NOT NULL,
  at     datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME()
);
ALTER TABLE pawl.outbox_stopping SET (LOCK_ESCALATION = DISABLE);

-- What handlers say of how far they are, with the heartbeat of their process: a JSON array.
ALTER TABLE pawl.worker_process ADD progress nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT N'[]';
