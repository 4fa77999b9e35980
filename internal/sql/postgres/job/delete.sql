SELECT pawl.audit_note(@note_id, @note_actor, 'remove', @note_target, @note_reason, pawl.job_remove(@name))
