-- Refuse a duration for a lease of a name that is missing or shorter than Go allows.
CREATE PROCEDURE pawl.check_duration @seconds int AS
BEGIN
SET NOCOUNT ON;
IF @seconds IS NULL
  EXEC pawl.check_null N'duration', 1;
IF @seconds < 1
  EXEC pawl.check_refuse N'duration', N'shorter than 1s';
END
