DECLARE @GOT int;
EXEC @GOT = pawl.outbox_unpark_runs @topic, @most;
SELECT CAST(@GOT AS bigint) AS n
