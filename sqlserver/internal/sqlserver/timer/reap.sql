DECLARE @GOT int;
EXEC @GOT = pawl.timer_reap;
SELECT CAST(@GOT AS bigint) AS n
