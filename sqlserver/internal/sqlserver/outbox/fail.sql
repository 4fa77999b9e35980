DECLARE @GOT int;
EXEC @GOT = pawl.outbox_fail_runs @runs, @count, @worker, @keep;
SELECT CAST(@GOT AS bigint) AS n
