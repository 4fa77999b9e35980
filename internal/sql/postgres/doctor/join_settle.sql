-- ignores @join_id: they are counted in all their joins
SELECT 1 FROM pawl.outbox_runs(@missed.id) r, LATERAL pawl.outbox_join_settle(r.o_lo, r.o_n),
  LATERAL pawl.audit_note(@note_id, @note_actor, 'fix', @note_target, @note_reason, 1)
