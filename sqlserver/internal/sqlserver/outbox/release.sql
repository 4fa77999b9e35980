DECLARE @GOT int;
EXEC @GOT = pawl.outbox_release_runs @runs;
SELECT CAST(@GOT AS bigint) AS n
