-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.timer SET status = 4, processed_at = @now WHERE key = @key AND key IS NOT NULL AND status < 2 AND status = 0
