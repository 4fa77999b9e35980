-- lowest: 5
-- A limit of kind 'each' holds for each of the topics that begin as its name does, before the *. Such
-- a topic has a row of its own while the limit is in use there, whose column pattern says of which
-- limit; that is empty in limits that somebody set.
DO $$ BEGIN -- the constraint is named after the table, which may have a prefix
  EXECUTE (SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
             FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
            WHERE c.conrelid = 'pawl.outbox_limit'::regclass AND c.contype = 'c' AND a.attname = 'kind');
END $$;
ALTER TABLE pawl.outbox_limit ADD CHECK (kind IN ('queue', 'topic', 'each'));
ALTER TABLE pawl.outbox_limit ADD COLUMN pattern text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX ON pawl.outbox_limit (pattern) WHERE pattern <> '';
