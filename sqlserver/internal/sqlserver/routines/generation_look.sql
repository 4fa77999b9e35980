-- Which generation this is: a mark that differs between generations, its number, and how
-- much is written, which cannot be told. Whoever finds that the history changed begins a
-- new generation. Whoever may execute it may do that: its owner is the table's.
CREATE PROCEDURE pawl.generation_look @mark nvarchar(450) OUTPUT, @number bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @place nvarchar(400), @known nvarchar(400), @id uniqueidentifier;
EXEC pawl.generation_place @place OUTPUT;
SELECT @id = g.id, @number = g.number, @known = g.place FROM pawl.generation g;
IF @id IS NOT NULL AND @place IS NOT NULL AND (@known IS NULL OR @known <> @place)
  AND CAST(DATABASEPROPERTYEX(DB_NAME(), N'Updateability') AS nvarchar(60)) <> N'READ_ONLY'
BEGIN
  EXEC pawl.generation_raise @id, @place;
  SELECT @id = g.id, @number = g.number FROM pawl.generation g;
END;
SET @mark = CONCAT(@id, N'/', @place);
IF @id IS NULL SET @mark = NULL;
END
