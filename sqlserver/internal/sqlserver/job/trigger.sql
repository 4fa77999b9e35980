DECLARE @GOT int;
EXEC @GOT = pawl.job_trigger_run @name, @id, @run_id;
EXEC pawl.audit_note @note_id, @note_actor, N'trigger', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
