DECLARE @GOT int;
EXEC @GOT = pawl.timer_cancel_row @key;
EXEC pawl.audit_note @note_id, @note_actor, N'cancel', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
