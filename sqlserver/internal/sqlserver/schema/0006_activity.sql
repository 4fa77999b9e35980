-- What the workers did with the messages of each topic, by the minute and by the hour: see
-- docs/layout.md. Only its own worker writes a row of a minute, each time in full. waits, takes,
-- created and errors are JSON.
CREATE TABLE pawl.activity (
  seq       bigint IDENTITY NOT NULL PRIMARY KEY, -- queue and topic together are too long for a key
  grain     smallint NOT NULL, -- 1: a minute, 60: an hour
  minute    bigint NOT NULL, -- in which it begins, since 1970
  queue     nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  topic     nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, -- empty: all beyond the first 200
  worker    uniqueidentifier NOT NULL, -- of hours 0
  done      bigint NOT NULL,
  retried   bigint NOT NULL,
  failed    bigint NOT NULL,
  expired   bigint NOT NULL,
  unhandled bigint NOT NULL,
  waits     nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  takes     nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  created   nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
  errors    nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL
);
CREATE INDEX activity_minute ON pawl.activity (grain, minute, worker);
ALTER TABLE pawl.activity SET (LOCK_ESCALATION = DISABLE);
