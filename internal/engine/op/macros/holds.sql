-- holds(table, id)
-- Whether a run of the table holds the message. A join of the run, or max() of lo, is left to the
-- planner, which reads all of a table that it takes for empty.
coalesce((SELECT h.lo + h.n FROM {table} h WHERE h.lo <= {id} ORDER BY h.lo DESC pawl.limit(1)), 0) > {id}
