WITH stopped AS (
  UPDATE pawl.outbox_bulk SET ended_at = @now, stopped_by = @note_actor WHERE id = @id AND ended_at IS NULL RETURNING 1)
SELECT pawl.audit_note(@note_id, @note_actor, 'stop', @note_target, @note_reason, (SELECT count(*) FROM stopped))
