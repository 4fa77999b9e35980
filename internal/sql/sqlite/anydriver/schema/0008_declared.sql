-- lowest: 5
-- Which versions of a program declared jobs or limits: the highest number is the newest, which holds.
CREATE TABLE pawl.declared (
  owner   TEXT NOT NULL,
  nr      INTEGER NOT NULL,
  version TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (owner, nr)
) STRICT, WITHOUT ROWID;
-- What a program declares of a limit that somebody else set.
ALTER TABLE pawl.outbox_limit ADD COLUMN declared TEXT;
