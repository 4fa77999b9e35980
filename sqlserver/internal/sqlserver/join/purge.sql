DECLARE @GOT int;
EXEC @GOT = pawl.outbox_join_purge @age, @most;
SELECT CAST(@GOT AS bigint) AS n
