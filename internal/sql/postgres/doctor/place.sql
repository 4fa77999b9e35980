SELECT pawl.audit_note(@note_id, @note_actor, 'fix', @note_target, @note_reason, pawl.outbox_place(@id))
