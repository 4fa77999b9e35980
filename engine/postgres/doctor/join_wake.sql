-- Make the waits of joins that are over due at once. $1 joins. Of the audit: $2 id,
-- or null, $3 actor, $4 target, $5 reason.
SELECT 1 FROM (SELECT pg_catalog.array_agg(j.join_id) AS over FROM pawl.outbox_join j WHERE j.join_id = ANY ($1::uuid[]) AND j.status <> 0) s, LATERAL pawl.outbox_join_wake(s.over),
  LATERAL pawl.audit_note($2, $3, 'fix', $4, $5, pg_catalog.cardinality(s.over))
