DECLARE @GOT int;
EXEC @GOT = pawl.job_fire @jobs, @runs;
SELECT CAST(@GOT AS bigint) AS n
