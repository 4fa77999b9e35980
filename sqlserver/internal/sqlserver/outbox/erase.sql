DECLARE @GOT int;
EXEC @GOT = pawl.outbox_erase @ids, @reason;
EXEC pawl.audit_note @note_id, @note_actor, N'erase', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
