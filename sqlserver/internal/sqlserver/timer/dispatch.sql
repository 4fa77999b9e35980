DECLARE @GOT int;
EXEC @GOT = pawl.timer_dispatch @most;
SELECT CAST(@GOT AS bigint) AS n
