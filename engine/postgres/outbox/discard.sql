-- Give failed messages up, oldest first. The parameters and the answer are those of outbox/redrive.
SELECT pawl.audit_note($10, $11, 'discard', $12, $13, CASE WHEN pg_catalog.cardinality(o_ids) > 0 THEN pawl.outbox_discard(o_ids) ELSE 0 END), o_last
  FROM pawl.outbox_dead_pick($1, $2, $3, $4, $5, $6, $7, $8, $9)
