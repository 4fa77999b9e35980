-- lowest: 2

-- The last attempts of a message that failed. Nothing is written for one that succeeds at
-- once. Numbers of attempts begin anew when a message is redriven, so they are no key.
CREATE TABLE pawl.outbox_attempt (
  nr       bigint IDENTITY NOT NULL PRIMARY KEY,
  id       bigint NOT NULL,
  attempt  int NOT NULL,
  ended_at datetime2(7) NOT NULL,
  worker   nvarchar(510) COLLATE Latin1_General_100_BIN2,
  error    nvarchar(max) COLLATE Latin1_General_100_BIN2
);
ALTER TABLE pawl.outbox_attempt SET (LOCK_ESCALATION = DISABLE);
CREATE INDEX id ON pawl.outbox_attempt (id, nr);

-- What a handler of a step returned, for the join's follow-up. Nothing is written for one that
-- returned nothing.
CREATE TABLE pawl.outbox_join_result (
  seq     bigint IDENTITY NOT NULL PRIMARY KEY,
  join_id uniqueidentifier NOT NULL,
  id      bigint NOT NULL, -- the step's position
  result  varbinary(max) NOT NULL,
  UNIQUE (join_id, id)
);
ALTER TABLE pawl.outbox_join_result SET (LOCK_ESCALATION = DISABLE);

