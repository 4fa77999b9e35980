DECLARE @GOT int;
EXEC @GOT = pawl.audit_purge @age, @most;
SELECT CAST(@GOT AS bigint) AS n
