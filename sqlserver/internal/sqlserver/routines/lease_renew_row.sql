-- Lengthen a lease that is still @holder's. @until is null if it is not.
CREATE PROCEDURE pawl.lease_renew_row @name nvarchar(510), @holder uniqueidentifier, @lease bigint, @until datetime2(7) OUTPUT AS
BEGIN
DECLARE @seq bigint, @now datetime2(7), @held uniqueidentifier;
SET @until = NULL;
pawl.begin_own()
pawl.lease_seq(@name, READCOMMITTED)
SELECT @held = l.holder FROM pawl.lease l WITH (UPDLOCK, ROWLOCK) WHERE l.seq = @seq;
SET @now = SYSUTCDATETIME();
UPDATE pawl.lease SET lease_until_utc = pawl.plus(@now, @lease) WHERE seq = @seq AND holder = @holder AND lease_until_utc > @now;
IF @@ROWCOUNT = 1
  SELECT @until = l.lease_until_utc FROM pawl.lease l WHERE l.seq = @seq;
pawl.end_own()
END
