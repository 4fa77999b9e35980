WITH u AS (
  UPDATE pawl.job SET enabled = false, next_time = NULL, due_at = NULL, version = version + 1, updated_at = @now WHERE name = @name AND enabled RETURNING 1)
SELECT pawl.audit_note(@note_id, @note_actor, 'disable', @note_target, @note_reason, 1) FROM u
