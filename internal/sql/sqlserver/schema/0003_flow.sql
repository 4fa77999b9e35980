-- lowest: 3

-- A queue with ordering keys has three lanes of priority 0: of kind 0, from which claims take,
-- of kind 1, to which messages with a key are enqueued, and of kind 2, where those wait whose
-- key has an earlier one.
ALTER TABLE pawl.outbox_lane ADD kind smallint NOT NULL DEFAULT 0;
GO
DROP INDEX queue ON pawl.outbox_lane;
CREATE UNIQUE INDEX queue ON pawl.outbox_lane (queue, size, kind, priority);
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
CREATE UNIQUE INDEX keyed ON pawl.outbox_unique ("key", size) WITH (ALLOW_PAGE_LOCKS = OFF);
CREATE INDEX message ON pawl.outbox_unique (id, until) WITH (ALLOW_PAGE_LOCKS = OFF);
