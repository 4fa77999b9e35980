SELECT pawl.audit_note(@note_id, @note_actor, 'release', @note_target, @note_reason, 1) FROM pawl.lease_force(@name)
