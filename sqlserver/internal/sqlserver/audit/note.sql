EXEC pawl.audit_note @note_id, @note_actor, @action, @note_target, @note_reason, @n;
SELECT @n AS n
