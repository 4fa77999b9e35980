-- first(n)
-- Any n rows.
LIMIT {n}
