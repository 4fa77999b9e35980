DECLARE @GOT int;
EXEC @GOT = pawl.outbox_abandon_runs @runs;
SELECT CAST(@GOT AS bigint) AS n
