SELECT pawl.audit_note(@note_id, @note_actor, 'cancel', @note_target, @note_reason, 1) FROM generate_series(1, pawl.timer_cancel_row(@key))
