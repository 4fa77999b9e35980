SET NOCOUNT ON;
DECLARE @GOT int, @AT bigint, @IDS nvarchar(max), @BACK bigint, @LAST bigint;
EXEC @GOT = pawl.inbox_revive @source, @message_id;
IF @GOT = 1
BEGIN
  EXEC pawl.outbox_position @queued_as, @AT OUTPUT;
  SET @IDS = CONCAT(N'[', @AT, N']');
  EXEC pawl.outbox_dead N'redrive', @IDS, NULL, NULL, NULL, NULL, NULL, 0, 1, 1, @BACK OUTPUT, @LAST OUTPUT;
  EXEC pawl.audit_note @note_id, @note_actor, N'revive', @note_target, @note_reason, 1;
END;
SET NOCOUNT OFF;
pawl.changed(@GOT)
