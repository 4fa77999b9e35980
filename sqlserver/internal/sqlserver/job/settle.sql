DECLARE @GOT int;
EXEC @GOT = pawl.job_settle;
SELECT CAST(@GOT AS bigint) AS n
