-- Refuse a field for a reason. Neither holds the value.
CREATE PROCEDURE pawl.check_refuse @field nvarchar(100), @reason nvarchar(400) AS
BEGIN
SET NOCOUNT ON;
DECLARE @text nvarchar(2048) = CONCAT(N'invalid argument: ', @field, N': ', @reason);
THROW 57110, @text, 1;
END
