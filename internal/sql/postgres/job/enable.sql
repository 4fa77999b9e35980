WITH u AS (
  UPDATE pawl.job SET enabled = true, next_time = @next_time, due_at = @due_at, last_error = NULL, version = version + 1, updated_at = @now
   WHERE name = @name AND version = @version AND NOT enabled RETURNING 1)
SELECT pawl.audit_note(@note_id, @note_actor, 'enable', @note_target, @note_reason, 1) FROM u
