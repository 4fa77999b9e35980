-- Refuse a number that is out of bounds; 0 and null are none. @least and @most are how the bounds
-- read. Go's engine.CheckOption.
CREATE PROCEDURE pawl.check_option @field nvarchar(100), @value float, @lo float, @hi float, @least nvarchar(40), @most nvarchar(40) AS
BEGIN
SET NOCOUNT ON;
DECLARE @fault nvarchar(400) = CASE WHEN @value = 0 THEN NULL WHEN @value < 0 THEN N'negative' WHEN @value < @lo THEN CONCAT(N'less than ', @least) WHEN @value > @hi THEN CONCAT(N'more than ', @most) END;
IF @fault IS NOT NULL EXEC pawl.check_refuse @field, @fault;
END
