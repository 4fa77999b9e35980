WITH e AS MATERIALIZED (
  SELECT pawl.outbox_join_end(@join_id, 3) AS n)
SELECT pawl.audit_note(@note_id, @note_actor, 'cancel', @note_target, @note_reason, (e.n = 1)::integer) FROM e, generate_series(1, e.n)
