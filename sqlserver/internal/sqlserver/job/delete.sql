DECLARE @GOT int;
EXEC @GOT = pawl.job_remove @name;
EXEC pawl.audit_note @note_id, @note_actor, N'remove', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
