DECLARE @GOT int;
EXEC @GOT = pawl.outbox_ack_runs @runs, @worker, @failed;
SELECT CAST(@GOT AS bigint) AS n
