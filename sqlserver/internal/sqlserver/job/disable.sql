SET NOCOUNT ON;
DECLARE @GOT int;
UPDATE pawl.job SET enabled = 0, next_time = NULL, due_at = NULL, version = version + 1, updated_at = @now WHERE pawl.exactly(name, @name) AND enabled = 1;
SET @GOT = @@ROWCOUNT;
EXEC pawl.audit_note @note_id, @note_actor, N'disable', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
