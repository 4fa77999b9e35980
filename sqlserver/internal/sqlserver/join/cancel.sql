DECLARE @GOT int, @DONE bigint;
EXEC @GOT = pawl.outbox_join_end @join_id, 3;
SET @DONE = CASE WHEN @GOT = 1 THEN 1 ELSE 0 END;
EXEC pawl.audit_note @note_id, @note_actor, N'cancel', @note_target, @note_reason, @DONE;
SET NOCOUNT OFF;
pawl.changed(@GOT)
