DECLARE @GOT int;
EXEC @GOT = pawl.timer_move @timer_id, @carried, @due;
EXEC pawl.audit_note @note_id, @note_actor, N'reschedule', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
