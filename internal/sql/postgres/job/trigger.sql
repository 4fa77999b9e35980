SELECT pawl.audit_note(@note_id, @note_actor, 'trigger', @note_target, @note_reason, pawl.job_trigger_run(@name, @id, @run_id))
