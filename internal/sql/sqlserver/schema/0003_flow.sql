-- lowest: 3

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
