-- lowest: 4
-- Routines that have other parameters now: replacing them would leave the old ones beside them.
DROP FUNCTION IF EXISTS pawl.outbox_lane_id(text, smallint);
DROP FUNCTION IF EXISTS pawl.outbox_claim_runs(text, uuid, interval, integer, integer, timestamptz, interval);
DROP FUNCTION IF EXISTS pawl.outbox_claim_suspects(text, uuid, interval, integer);
DROP FUNCTION IF EXISTS pawl.outbox_abandon_runs(uuid[], bigint[], integer[], interval[], text[], text, integer);
DROP FUNCTION IF EXISTS pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[], boolean, boolean[], text, integer);

-- A queue with ordering keys has three lanes of priority 0: of kind 0, from which claims take,
-- of kind 1, to which messages with a key are enqueued, and of kind 2, where those wait whose
-- key has an earlier one. Messages of a topic with a limit are moved to a lane of kind 3 when a
-- claim meets them; its column topic is empty in all others.
ALTER TABLE pawl.outbox_lane ADD COLUMN kind smallint NOT NULL DEFAULT 0;
ALTER TABLE pawl.outbox_lane ADD COLUMN topic text COLLATE "C" NOT NULL DEFAULT '';
DO $$ BEGIN -- the constraint is named after the table, which may have a prefix
  EXECUTE (SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
             FROM pg_constraint c WHERE c.conrelid = 'pawl.outbox_lane'::regclass AND c.contype = 'u');
END $$;
ALTER TABLE pawl.outbox_lane ADD UNIQUE (queue, kind, priority, topic);
-- Lanes of limits: of the same topic in other queues, and when a claim last found no room for one.
CREATE INDEX ON pawl.outbox_lane (topic) WHERE kind = 3;
ALTER TABLE pawl.outbox_lane ADD COLUMN asked timestamptz;

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

-- How many messages of a topic or queue may run at once, and how many may begin in a time.
CREATE TABLE pawl.outbox_limit (
  kind        text NOT NULL CHECK (kind IN ('queue', 'topic')),
  name        text COLLATE "C" NOT NULL,
  concurrency integer CHECK (concurrency > 0),
  rate        integer CHECK (rate > 0), -- in each period
  period      interval NOT NULL CHECK (period > interval '0'),
  burst       integer NOT NULL CHECK (burst > 0),
  next_at     timestamptz NOT NULL DEFAULT '-infinity', -- when the next one may be claimed, by the rate
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor       text NOT NULL,
  reason      text,
  PRIMARY KEY (kind, name)
);

-- Claimed messages that count against a limit's concurrency. Those that are no longer claimed are
-- deleted before they are counted, so that nothing else needs to know of them.
CREATE TABLE pawl.outbox_limit_claim (
  kind text NOT NULL,
  name text COLLATE "C" NOT NULL,
  id   bigint NOT NULL,
  PRIMARY KEY (kind, name, id)
);
