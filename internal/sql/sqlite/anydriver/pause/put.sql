-- ignores @note_id, @note_target, @note_reason: the audit trail is Go's
INSERT INTO pawl.outbox_pause (kind, name, lane, at, reason, actor) VALUES (@kind, @name, @lane, @now, @reason, @note_actor)
ON CONFLICT (kind, name) DO UPDATE SET ending = 0, at = excluded.at, reason = excluded.reason, actor = excluded.actor WHERE ending
