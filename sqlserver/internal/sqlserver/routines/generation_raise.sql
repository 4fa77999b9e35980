-- Begin a new generation, unless it is no longer the one with this id.
CREATE PROCEDURE pawl.generation_raise @id uniqueidentifier, @place nvarchar(400) AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME();
DECLARE @millis bigint = DATEDIFF_BIG(millisecond, '2024-01-01', @now);
UPDATE pawl.generation
   SET id = NEWID(), number = CASE WHEN number + 1 > @millis THEN number + 1 ELSE @millis END, since = @now, place = @place
 WHERE id = @id;
END
