DECLARE @GOT int;
UPDATE pawl.outbox_bulk SET ended_at = @now, stopped_by = @note_actor WHERE id = @id AND ended_at IS NULL;
SET @GOT = @@ROWCOUNT;
EXEC pawl.audit_note @note_id, @note_actor, N'stop', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
