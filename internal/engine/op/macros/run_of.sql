-- run_of(table, id)
-- The run that a message may lie in, which ends before it or holds it.
(SELECT x.* FROM {table} x WHERE x.lo <= {id} ORDER BY x.lo DESC pawl.limit(1))
