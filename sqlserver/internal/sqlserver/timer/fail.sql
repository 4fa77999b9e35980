DECLARE @GOT int;
EXEC @GOT = pawl.timer_end_rows @owner, @timer_ids, 3, @error;
SELECT CAST(@GOT AS bigint) AS n
