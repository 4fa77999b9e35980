-- ignores @carried: timer_move computes it
SELECT pawl.audit_note(@note_id, @note_actor, 'reschedule', @note_target, @note_reason, 1) FROM generate_series(1, pawl.timer_move(@timer_id, @due))
