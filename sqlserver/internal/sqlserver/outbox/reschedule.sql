DECLARE @GOT int;
EXEC @GOT = pawl.outbox_reschedule @ids, @due;
EXEC pawl.audit_note @note_id, @note_actor, N'reschedule', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
