-- What the workers did with the messages of each topic, by the minute and by the hour: see
-- docs/layout.md. Only its own worker writes a row of a minute, each time in full, so that nobody
-- waits for it and a write that is repeated counts once. waits, takes, created and errors are JSON.
CREATE TABLE pawl.activity (
  grain     smallint NOT NULL, -- 1: a minute, 60: an hour
  minute    bigint NOT NULL, -- in which it begins, since 1970
  queue     text COLLATE "C" NOT NULL,
  topic     text COLLATE "C" NOT NULL, -- empty: all beyond the first 200
  worker    uuid NOT NULL, -- of hours 0
  done      bigint NOT NULL,
  retried   bigint NOT NULL,
  failed    bigint NOT NULL,
  expired   bigint NOT NULL,
  unhandled bigint NOT NULL,
  waits     text NOT NULL,
  takes     text NOT NULL,
  created   text NOT NULL,
  errors    text NOT NULL,
  PRIMARY KEY (grain, minute, queue, topic, worker)
) WITH (fillfactor = 50);
