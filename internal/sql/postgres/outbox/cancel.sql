SELECT pawl.audit_note(@note_id, @note_actor, 'cancel', @note_target, @note_reason, pawl.outbox_cancel(@ids, @reason))
