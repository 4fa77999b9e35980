SELECT pawl.audit_note(@note_id, @note_actor, 'reschedule', @note_target, @note_reason, pawl.outbox_reschedule(@ids, coalesce(@due, clock_timestamp())))
