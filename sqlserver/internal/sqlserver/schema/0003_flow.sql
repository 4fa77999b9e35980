-- lowest: 3

-- A queue with ordering keys has three lanes of priority 0: of kind 0, from which claims take,
-- of kind 1, to which messages with a key are enqueued, and of kind 2, where those wait whose
-- key has an earlier one. Messages of a topic with a limit are moved to a lane of kind 3 when a
-- claim meets them; its column topic is empty in all others. Of that kind a queue has many lanes at
-- one priority: apart tells them apart in place of the topic, which would be too long for an index.
ALTER TABLE pawl.outbox_lane ADD kind smallint NOT NULL DEFAULT 0;
ALTER TABLE pawl.outbox_lane ADD topic nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT N'';
GO
ALTER TABLE pawl.outbox_lane ADD apart AS CASE kind WHEN 3 THEN id ELSE 0 END;
GO
DROP INDEX queue ON pawl.outbox_lane;
CREATE UNIQUE INDEX queue ON pawl.outbox_lane (queue, size, kind, priority, apart) INCLUDE (topic);
CREATE INDEX topic ON pawl.outbox_lane (topic) INCLUDE (queue, priority) WHERE kind = 3;
-- When a claim last found no room for what is in a limit's lane. No index has it, so that who reads
-- lanes does not wait for who writes it.
ALTER TABLE pawl.outbox_lane ADD asked datetime2(7) NULL;
GO
-- Messages with an ordering key, from when they were put in order until they end. One of each
-- key is the head: it alone may be claimed. Rows alone are locked, never pages: keys of others
-- lie beside.
CREATE TABLE pawl.outbox_order (
  id    bigint NOT NULL,
  lane  bigint NOT NULL, -- to which it was enqueued: the queue's of kind 1
  "key" nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  head  bit NOT NULL,
  size  AS DATALENGTH("key"),
  PRIMARY KEY (id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
ALTER TABLE pawl.outbox_order SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX head ON pawl.outbox_order (lane, "key", size) WHERE head = 1 WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX line ON pawl.outbox_order (lane, "key", size, id) WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Which message took a unique key last. A message without a key writes and reads nothing here.
CREATE TABLE pawl.outbox_unique (
  seq         bigint IDENTITY NOT NULL PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = OFF),
  "key"       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  id          bigint NOT NULL, -- its position; 0: it was deleted before its period is over
  message_id  uniqueidentifier NOT NULL,
  enqueued_at datetime2(7) NOT NULL,
  until       datetime2(7), -- the end of its period
  size        AS DATALENGTH("key") -- spaces at the end of a text do not count for =
);
ALTER TABLE pawl.outbox_unique SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX keyed ON pawl.outbox_unique ("key", size) WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX message ON pawl.outbox_unique (id, until) WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- How many messages of a topic or queue may run at once, and how many may begin in a time. Claims
-- look for limits in the index alone: it has nothing that another claim changes.
CREATE TABLE pawl.outbox_limit (
  seq         bigint IDENTITY NOT NULL PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = OFF),
  kind        nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CHECK (kind IN (N'queue', N'topic')),
  name        nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  concurrency int CHECK (concurrency > 0),
  rate        int CHECK (rate > 0), -- in each period
  "period"    bigint NOT NULL CHECK ("period" > 0), -- microseconds
  burst       int NOT NULL CHECK (burst > 0),
  next_at     datetime2(7) NOT NULL DEFAULT '0001-01-01', -- when the next one may be claimed, by the rate
  at          datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(),
  actor       nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  reason      nvarchar(max) COLLATE Latin1_General_100_BIN2,
  size        AS DATALENGTH(name)
);
ALTER TABLE pawl.outbox_limit SET (LOCK_ESCALATION = DISABLE);
CREATE UNIQUE INDEX name ON pawl.outbox_limit (kind, name, size) WITH (ALLOW_PAGE_LOCKS = OFF);

-- Claimed messages that count against a limit's concurrency. Those that are no longer claimed are
-- deleted before they are counted, so that nothing else needs to know of them.
CREATE TABLE pawl.outbox_limit_claim (
  of_limit bigint NOT NULL, -- its seq
  id       bigint NOT NULL,
  PRIMARY KEY (of_limit, id) WITH (ALLOW_PAGE_LOCKS = OFF)
);
ALTER TABLE pawl.outbox_limit_claim SET (LOCK_ESCALATION = DISABLE);
