-- lowest: 5
-- Which versions of a program declared jobs or limits: the highest number is the newest, which holds.
CREATE TABLE pawl.declared (
  owner   text COLLATE "C" NOT NULL,
  nr      bigint NOT NULL,
  version text COLLATE "C" NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (owner, nr)
);
-- What a program declares of a limit that somebody else set.
ALTER TABLE pawl.outbox_limit ADD COLUMN declared text;
