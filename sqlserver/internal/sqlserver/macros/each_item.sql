-- each_item(r)
-- The messages of runs as i, behind FROM. The limit, which no run has, keeps the optimizer from
-- reading all messages and joining the runs to them.
CROSS APPLY (SELECT x.* FROM pawl.outbox_item x WHERE x.id >= {r}.lo AND x.id < {r}.lo + {r}.n ORDER BY x.id DESC pawl.limit(1000000)) i
