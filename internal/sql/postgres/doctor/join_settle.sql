-- ignores @join_id: they are counted in all their joins
SELECT 1 FROM pawl.outbox_join_recount(@missed.id),
  LATERAL pawl.audit_note(@note_id, @note_actor, 'fix', @note_target, @note_reason, 1)
