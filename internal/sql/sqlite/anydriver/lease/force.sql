-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL, token = token + 1 WHERE name = @name AND holder IS NOT NULL
