-- Give a lease back if it is still @holder's. Returns 1 if it was.
CREATE PROCEDURE pawl.lease_give @name nvarchar(510), @holder uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint;
pawl.lease_seq(@name, READCOMMITTED)
UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL WHERE seq = @seq AND holder = @holder;
RETURN @@ROWCOUNT;
END
