-- Refuse a text for what check_fault finds.
CREATE PROCEDURE pawl.check_text @field nvarchar(100), @value nvarchar(max), @limit int, @required bit AS
BEGIN
SET NOCOUNT ON;
DECLARE @fault nvarchar(400);
EXEC pawl.check_fault @value, @limit, @required, @fault OUTPUT;
IF @fault = N'null'
  EXEC pawl.check_null @field, 1;
IF @fault IS NOT NULL
  EXEC pawl.check_refuse @field, @fault;
END
