-- ignores @all: every call reads all
DECLARE @GOT int;
EXEC @GOT = pawl.outbox_reap_runs @most, @keep;
SELECT CAST(@GOT AS bigint) AS n
