-- Count failed messages. The parameters but those of the audit, and the answer, are those of outbox/redrive.
SELECT pg_catalog.cardinality(o_ids)::int8, o_last FROM pawl.outbox_dead_pick($1, $2, $3, $4, $5, $6, $7, $8, $9)
