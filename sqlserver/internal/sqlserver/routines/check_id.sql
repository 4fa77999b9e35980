-- Refuse an id that is missing or zero.
CREATE PROCEDURE pawl.check_id @field nvarchar(100), @id uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
IF @id IS NULL
  EXEC pawl.check_null @field, 1;
IF @id = CAST(N'00000000-0000-0000-0000-000000000000' AS uniqueidentifier)
  EXEC pawl.check_refuse @field, N'zero';
END
