DECLARE @GOT int;
EXEC @GOT = pawl.timer_abandon_rows @owner, @timer_ids, @delay, @error;
SELECT CAST(@GOT AS bigint) AS n
