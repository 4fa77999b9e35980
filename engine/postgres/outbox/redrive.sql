-- Give failed messages a fresh start, oldest first. $1 ids, $2 topic, $3 queue,
-- $4 part of the error, $5 failed since, $6 and before: each or null; $7 behind
-- this position, $8 how many to look at, $9 how many to redrive; of the audit:
-- $10 id, $11 actor, $12 target, $13 reason. Answers how many, and where to go on, null at the end.
SELECT pawl.audit_note($10, $11, 'redrive', $12, $13, CASE WHEN pg_catalog.cardinality(o_ids) > 0 THEN pawl.outbox_redrive(o_ids) ELSE 0 END), o_last
  FROM pawl.outbox_dead_pick($1, $2, $3, $4, $5, $6, $7, $8, $9)
