DECLARE @GOT int;
EXEC @GOT = pawl.limit_put @kind, @name, @concurrency, @rate, @period, @burst, @note_actor, @reason;
EXEC pawl.audit_note @note_id, @note_actor, N'limit', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
