-- What the workers did with the messages of each topic, by the minute and by the hour: see
-- docs/layout.md. Only its own worker writes a row of a minute, each time in full. waits, takes,
-- created and errors are JSON.
CREATE TABLE pawl.activity (
  grain     INTEGER NOT NULL, -- 1: a minute, 60: an hour
  minute    INTEGER NOT NULL, -- in which it begins, since 1970
  queue     TEXT NOT NULL,
  topic     TEXT NOT NULL, -- empty: all beyond the first 200
  worker    BLOB NOT NULL, -- of hours 0
  done      INTEGER NOT NULL,
  retried   INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  expired   INTEGER NOT NULL,
  unhandled INTEGER NOT NULL,
  waits     TEXT NOT NULL,
  takes     TEXT NOT NULL,
  created   TEXT NOT NULL,
  errors    TEXT NOT NULL,
  PRIMARY KEY (grain, minute, queue, topic, worker)
) STRICT, WITHOUT ROWID;
