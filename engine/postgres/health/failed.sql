-- How many messages failed for good, counted up to $1.
SELECT count(*) FROM (SELECT FROM pawl.outbox_exception e WHERE e.status >= 3 AND e.status = 3 LIMIT $1) e
