DECLARE @GOT int;
EXEC @GOT = pawl.pause_put @kind, @name, @lane, @note_actor, @reason;
EXEC pawl.audit_note @note_id, @note_actor, N'pause', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
