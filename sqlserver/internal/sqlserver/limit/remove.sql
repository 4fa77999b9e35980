DECLARE @GOT int;
EXEC @GOT = pawl.limit_end @kind, @name;
EXEC pawl.audit_note @note_id, @note_actor, N'unlimit', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
