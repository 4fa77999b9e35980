SELECT count(*) FROM (SELECT 1 AS one FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = 3 pawl.first(@most)) x
