-- Let a lease last for @lease_seconds from now. @lease_until_utc is its new end, or null: it is no
-- longer @holder's, and what it protects has to stop. Returns 1 if it is.
CREATE PROCEDURE pawl.lease_renew @name nvarchar(max), @holder uniqueidentifier, @lease_seconds int, @lease_until_utc datetime2(7) = NULL OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @lease bigint = CAST(@lease_seconds AS bigint) * 1000000;
EXEC pawl.check_isolation N'renew';
EXEC pawl.check_duration @lease_seconds;
EXEC pawl.check_text N'name', @name, 255, 1;
EXEC pawl.check_id N'holder', @holder;
EXEC pawl.lease_renew_row @name, @holder, @lease, @lease_until_utc OUTPUT;
IF @lease_until_utc IS NULL RETURN 0;
RETURN 1;
END
