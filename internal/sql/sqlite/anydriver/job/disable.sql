-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.job SET enabled = 0, next_time = NULL, due_at = NULL, version = version + 1, updated_at = @now WHERE name = @name AND enabled
