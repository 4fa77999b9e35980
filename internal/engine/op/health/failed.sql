SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = 3 LIMIT @most) x
