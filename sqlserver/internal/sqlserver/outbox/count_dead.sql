DECLARE @GOT bigint, @LAST bigint, @ENDED bigint;
EXEC pawl.outbox_dead_count @ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @GOT OUTPUT, @LAST OUTPUT, @ENDED OUTPUT, @fingerprint, @discarded, @act;
SELECT @GOT AS n, @LAST AS last, @ENDED AS ended
