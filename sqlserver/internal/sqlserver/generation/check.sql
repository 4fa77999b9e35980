DECLARE @MARK nvarchar(450), @NUMBER bigint;
EXEC pawl.generation_look @MARK OUTPUT, @NUMBER OUTPUT;
SELECT @MARK AS mark, @NUMBER AS number, CAST(NULL AS bigint) AS written
