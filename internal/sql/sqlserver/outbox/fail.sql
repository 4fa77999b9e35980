DECLARE @GOT int;
EXEC @GOT = pawl.outbox_fail_runs @runs, @count;
SELECT CAST(@GOT AS bigint) AS n
