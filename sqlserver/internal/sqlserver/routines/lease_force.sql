-- Take a lease from whoever has it, and raise the token. Returns 1 if anyone had it.
CREATE PROCEDURE pawl.lease_force @name nvarchar(510) AS
BEGIN
DECLARE @seq bigint, @got int;
pawl.begin_own()
pawl.lease_seq(@name, XLOCK)
UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL, token = token + 1 WHERE seq = @seq AND holder IS NOT NULL;
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
