DECLARE @GOT int;
EXEC @GOT = pawl.outbox_retopic @ids, @topic, @lane;
EXEC pawl.audit_note @note_id, @note_actor, N'retopic', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
