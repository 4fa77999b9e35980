-- The move of this store to another database, or from one into this: see docs/moving.md.
CREATE TABLE pawl.move (
  one         bit NOT NULL DEFAULT 1 PRIMARY KEY CHECK (one = 1),
  id          uniqueidentifier NOT NULL, -- the same in both databases
  role        nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CHECK (role IN (N'from', N'to')),
  phase       nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CHECK (phase IN (N'copying', N'closed', N'moved', N'filling', N'arrived')),
  place       nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL, -- of the other database, without a password
  schema_name nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  prefix      nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  began_at    datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME()
);
ALTER TABLE pawl.move SET (LOCK_ESCALATION = DISABLE);
GO
CREATE TABLE pawl.move_table (
  name    nvarchar(100) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
  last    nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL, -- key of the last row, as JSON
  n       bigint NOT NULL,
  is_over bit NOT NULL
);
ALTER TABLE pawl.move_table SET (LOCK_ESCALATION = DISABLE);
