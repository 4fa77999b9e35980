DECLARE @GOT int;
EXEC @GOT = pawl.outbox_adopt @queues;
SELECT CAST(@GOT AS bigint) AS n
