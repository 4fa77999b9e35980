-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.outbox_join SET status = 0, deadline_utc = CASE WHEN deadline_utc > @now THEN deadline_utc END, last_updated_utc = @now WHERE join_id = @join_id AND status = 2
