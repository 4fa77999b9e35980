DECLARE @GOT bigint, @LAST bigint, @ENDED bigint;
EXEC pawl.outbox_dead N'redrive', @ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @GOT OUTPUT, @LAST OUTPUT, @ENDED OUTPUT, @fingerprint, @discarded, @act;
EXEC pawl.audit_note @note_id, @note_actor, N'redrive', @note_target, @note_reason, @GOT;
SELECT @GOT AS n, @LAST AS last, @ENDED AS ended
