-- lowest: 4
-- Routines that have other parameters now: replacing them would leave the old ones beside them.
DROP FUNCTION IF EXISTS pawl.outbox_lane_id(text, smallint);
DROP FUNCTION IF EXISTS pawl.outbox_abandon_runs(uuid[], bigint[], integer[], interval[], text[], text, integer);
DROP FUNCTION IF EXISTS pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[], boolean, boolean[], text, integer);

-- A queue with ordering keys has three lanes of priority 0: of kind 0, from which claims take,
-- of kind 1, to which messages with a key are enqueued, and of kind 2, where those wait whose
-- key has an earlier one.
ALTER TABLE pawl.outbox_lane ADD COLUMN kind smallint NOT NULL DEFAULT 0;
DO $$ BEGIN -- the constraint is named after the table, which may have a prefix
  EXECUTE (SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
             FROM pg_constraint c WHERE c.conrelid = 'pawl.outbox_lane'::regclass AND c.contype = 'u');
END $$;
ALTER TABLE pawl.outbox_lane ADD UNIQUE (queue, kind, priority);

-- Messages with an ordering key, from when they were put in order until they end. One of each
-- key is the head: it alone may be claimed.
CREATE TABLE pawl.outbox_order (
  id   bigint PRIMARY KEY,
  lane bigint NOT NULL, -- to which it was enqueued: the queue's of kind 1
  key  text COLLATE "C" NOT NULL,
  head boolean NOT NULL
);
CREATE UNIQUE INDEX ON pawl.outbox_order (lane, key) WHERE head;
CREATE INDEX ON pawl.outbox_order (lane, key, id);

-- Which message took a unique key last. A message without a key writes and reads nothing here.
CREATE TABLE pawl.outbox_unique (
  key         text COLLATE "C" PRIMARY KEY,
  id          bigint NOT NULL, -- its position; 0: it was deleted before its period is over
  message_id  uuid NOT NULL,
  enqueued_at timestamptz NOT NULL,
  until       timestamptz -- the end of its period
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX ON pawl.outbox_unique (id, until);
