-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.timer SET due_time = coalesce(@due, @now), at = coalesce(@due, @now) WHERE id = pawl.whereabouts(@timer_id, @carried) AND status = 0
