-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.job SET enabled = 1, next_time = @next_time, due_at = @due_at, last_error = NULL, version = version + 1, updated_at = @now
 WHERE name = @name AND version = @version AND NOT enabled
