-- each_item(r)
-- The messages of runs as i, behind FROM. OFFSET 0 keeps the planner from reading all messages
-- and joining the runs to them.
CROSS JOIN LATERAL (SELECT * FROM pawl.outbox_item x WHERE x.id >= {r}.lo AND x.id < {r}.lo + {r}.n OFFSET 0) i
