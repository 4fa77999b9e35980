SET NOCOUNT ON;
DECLARE @GOT int;
UPDATE pawl.job SET enabled = 1, next_time = @next_time, due_at = @due_at, last_error = NULL, version = version + 1, updated_at = @now WHERE pawl.exactly(name, @name) AND version = @version AND enabled = 0;
SET @GOT = @@ROWCOUNT;
EXEC pawl.audit_note @note_id, @note_actor, N'enable', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(@GOT)
