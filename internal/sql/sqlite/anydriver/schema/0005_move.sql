-- The move of this store to another database, or from one into this: see docs/moving.md.
CREATE TABLE pawl.move (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  id          BLOB NOT NULL, -- the same in both databases
  role        TEXT NOT NULL CHECK (role IN ('from', 'to')),
  phase       TEXT NOT NULL CHECK (phase IN ('copying', 'closed', 'moved', 'filling', 'arrived')),
  place       TEXT NOT NULL, -- of the other database, without a password
  schema_name TEXT NOT NULL,
  prefix      TEXT NOT NULL,
  began_at    INTEGER NOT NULL,
  open        INTEGER NOT NULL DEFAULT 0 -- within a transaction of the move itself
) STRICT;

-- How far each table was copied into this database.
CREATE TABLE pawl.move_table (
  name    TEXT PRIMARY KEY,
  last    TEXT NOT NULL, -- key of the last row, as JSON
  n       INTEGER NOT NULL,
  is_over INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
