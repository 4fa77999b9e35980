-- Give a lease back. Returns 1 if it was still @holder's.
CREATE PROCEDURE pawl.lease_release @name nvarchar(max), @holder uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC pawl.check_isolation N'release';
EXEC pawl.check_text N'name', @name, 255, 1;
EXEC pawl.check_id N'holder', @holder;
EXEC @got = pawl.lease_give @name, @holder;
RETURN @got;
END
