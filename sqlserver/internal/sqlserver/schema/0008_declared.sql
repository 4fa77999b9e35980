-- lowest: 5
-- Which versions of a program declared jobs or limits: the highest number is the newest, which holds.
CREATE TABLE pawl.declared (
  seq     bigint IDENTITY NOT NULL PRIMARY KEY,
  owner   nvarchar(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
  nr      bigint NOT NULL,
  version nvarchar(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
  at      datetime2(7) NOT NULL,
  size    AS DATALENGTH(owner)
);
CREATE UNIQUE INDEX owner ON pawl.declared (owner, nr, size);
ALTER TABLE pawl.declared SET (LOCK_ESCALATION = DISABLE);
-- What a program declares of a limit that somebody else set.
ALTER TABLE pawl.outbox_limit ADD declared nvarchar(1000) COLLATE Latin1_General_100_BIN2;
