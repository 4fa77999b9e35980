DECLARE @GOT int;
EXEC @GOT = pawl.outbox_abandon_runs @runs, @worker, @keep;
SELECT CAST(@GOT AS bigint) AS n
