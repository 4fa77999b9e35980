-- The move of this store to another database, or from one into this: see docs/moving.md.
CREATE TABLE pawl.move (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  id          uuid NOT NULL, -- the same in both databases
  role        text NOT NULL CHECK (role IN ('from', 'to')),
  phase       text NOT NULL CHECK (phase IN ('copying', 'closed', 'moved', 'filling', 'arrived')),
  place       text NOT NULL, -- of the other database, without a password
  schema_name text NOT NULL,
  prefix      text NOT NULL,
  began_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How far each table was copied into this database.
CREATE TABLE pawl.move_table (
  name    text COLLATE "C" PRIMARY KEY,
  last    text NOT NULL, -- key of the last row, as JSON
  n       bigint NOT NULL,
  is_over boolean NOT NULL
);
