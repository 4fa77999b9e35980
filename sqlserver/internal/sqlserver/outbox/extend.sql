DECLARE @GOT int;
EXEC @GOT = pawl.outbox_extend_runs @runs, @lease;
SELECT CAST(@GOT AS bigint) AS n
