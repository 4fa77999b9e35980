DECLARE @NUMBER bigint;
EXEC pawl.generation_restored @NUMBER OUTPUT;
SELECT @NUMBER AS n
