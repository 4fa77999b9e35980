DECLARE @GOT int;
EXEC @GOT = pawl.outbox_order_repair @id;
EXEC pawl.audit_note @note_id, @note_actor, N'fix', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
