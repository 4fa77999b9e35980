SELECT 1 FROM (SELECT pg_catalog.array_agg(j.join_id) AS over FROM pawl.outbox_join j WHERE j.join_id = ANY (@join_ids) AND j.status <> 0) s, LATERAL pawl.outbox_join_wake(s.over),
  LATERAL pawl.audit_note(@note_id, @note_actor, 'fix', @note_target, @note_reason, pg_catalog.cardinality(s.over))
