-- each_item(r)
-- The messages of runs as i, behind FROM: looked up run by run, also where the planner takes them
-- to be most of the table.
CROSS JOIN pawl.outbox_item i ON i.id >= {r}.lo AND i.id < {r}.lo + {r}.n
