-- Refuse a number of attempts that is missing or negative.
CREATE PROCEDURE pawl.check_attempts @most int AS
BEGIN
SET NOCOUNT ON;
IF @most IS NULL
  EXEC pawl.check_null N'max attempts', 1;
IF @most < 0
  EXEC pawl.check_refuse N'max attempts', N'negative';
END
