-- Returns 1 if the lease is @holder's under this token, which it then stays until the
-- transaction ends, and 0 otherwise. The row is read behind the lock, and at a time behind
-- it. The lock lets renewals pass.
CREATE PROCEDURE pawl.lease_guard_row @name nvarchar(510), @holder uniqueidentifier, @token bigint AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint, @now datetime2(7), @got int = 0;
pawl.lease_seq(@name, REPEATABLEREAD)
SET @now = SYSUTCDATETIME();
SELECT @got = 1 FROM pawl.lease l WHERE l.seq = @seq AND l.holder = @holder AND l.token = @token AND l.lease_until_utc > @now;
RETURN @got;
END
