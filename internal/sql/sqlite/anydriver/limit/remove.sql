-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
DELETE FROM pawl.outbox_limit WHERE kind = @kind AND name = @name AND pattern = ''
