-- ignores @note_id, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.outbox_bulk SET ended_at = @now, stopped_by = @note_actor WHERE id = @id AND ended_at IS NULL
