-- lock_key(name)
-- The advisory lock of a name. Whoever may connect can take any advisory lock, so the key depends on the
-- id of the generation, which pawl's roles alone may read. Without operators, which the search path of
-- a statement might find elsewhere.
pg_catalog.hashtextextended(pg_catalog.concat((SELECT g.id FROM pawl.generation g), {name}), 0)
