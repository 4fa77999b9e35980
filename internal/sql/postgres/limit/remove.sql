SELECT pawl.audit_note(@note_id, @note_actor, 'unlimit', @note_target, @note_reason, pawl.limit_end(@kind, @name))
