DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_redrive @join_id;
EXEC pawl.audit_note @note_id, @note_actor, N'redrive', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
