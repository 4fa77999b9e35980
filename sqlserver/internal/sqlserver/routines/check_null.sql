-- What the check_… procedures have in common: they refuse with the words of Go's
-- validation, so that a mistake reads the same whichever door it came through. This one
-- refuses a value that is missing.
CREATE PROCEDURE pawl.check_null @field nvarchar(100), @missing bit AS
BEGIN
SET NOCOUNT ON;
DECLARE @text nvarchar(2048) = CONCAT(N'invalid argument: ', @field, N': null');
IF @missing = 1 THROW 57111, @text, 1;
END
