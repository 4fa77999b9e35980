DECLARE @GOT int;
EXEC @GOT = pawl.outbox_reap_runs @most;
SELECT CAST(@GOT AS bigint) AS n
