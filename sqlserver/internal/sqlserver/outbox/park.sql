DECLARE @GOT int;
EXEC @GOT = pawl.outbox_park_runs @runs;
SELECT CAST(@GOT AS bigint) AS n
