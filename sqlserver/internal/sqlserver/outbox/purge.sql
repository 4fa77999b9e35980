DECLARE @GOT int;
EXEC pawl.job_settle;
EXEC @GOT = pawl.outbox_purge @age, @look;
SELECT CAST(@GOT AS bigint) AS n
