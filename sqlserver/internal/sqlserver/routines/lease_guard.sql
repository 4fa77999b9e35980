-- Fail unless the lease is still @holder's under this token, and keep it so until the caller's
-- transaction ends.
CREATE PROCEDURE pawl.lease_guard @name nvarchar(max), @holder uniqueidentifier, @token bigint AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @text nvarchar(2048);
EXEC pawl.check_isolation N'guard';
EXEC pawl.check_text N'name', @name, 255, 1;
EXEC pawl.check_id N'holder', @holder;
IF @token IS NULL EXEC pawl.check_null N'token', 1;
IF @@TRANCOUNT = 0 THROW 57101, 'no transaction is open', 1;
EXEC @got = pawl.lease_guard_row @name, @holder, @token;
SET @text = CONCAT(N'lease lost: "', REPLACE(@name, N'%', N'%%'), N'"');
IF @got = 0 THROW 57122, @text, 1;
END
