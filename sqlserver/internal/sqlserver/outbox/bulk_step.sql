DECLARE @GOT int;
EXEC @GOT = pawl.outbox_bulk_step @id, @look, @most, @note_id, @note_actor, @note_target, @note_reason;
SELECT CAST(@GOT AS bigint) AS n
