-- Refuse a lease that is missing or shorter than Go allows.
CREATE PROCEDURE pawl.check_lease @seconds int AS
BEGIN
SET NOCOUNT ON;
IF @seconds IS NULL EXEC pawl.check_null N'lease', 1;
IF @seconds < 1 EXEC pawl.check_refuse N'lease', N'shorter than a millisecond';
END
