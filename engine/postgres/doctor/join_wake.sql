-- Make the waits of joins that are over due at once. $1 joins.
SELECT 1 FROM (SELECT pg_catalog.array_agg(j.join_id) AS over FROM pawl.outbox_join j WHERE j.join_id = ANY ($1::uuid[]) AND j.status <> 0) s, LATERAL pawl.outbox_join_wake(s.over)
