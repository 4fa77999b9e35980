-- Take a lease that is free and for which nobody waits in front of @holder. @token is null if
-- it was not to be had. Asking again under the same @holder finds the lease it already has. The
-- token carries the generation in its high bits, so that tokens given after a failover or a
-- restore are greater than all before.
CREATE PROCEDURE pawl.lease_acquire_row @name nvarchar(510), @owner nvarchar(510), @holder uniqueidentifier, @lease bigint, @token bigint OUTPUT, @until datetime2(7) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint, @now datetime2(7), @mark nvarchar(450), @number bigint, @held uniqueidentifier, @ends datetime2(7);
SELECT @token = NULL, @until = NULL;
-- Where it is plainly held nobody locks: a lock would wait for the holder's guards.
IF EXISTS (SELECT 1 FROM pawl.lease l WITH (FORCESEEK) WHERE pawl.exactly(l.name, @name) AND l.holder <> @holder AND l.lease_until_utc > SYSUTCDATETIME())
  RETURN;
pawl.begin_own()
pawl.lease_seq(@name, XLOCK)
IF @seq IS NULL
BEGIN
  pawl.begin_insert()
  INSERT INTO pawl.lease (name, token) VALUES (@name, 0);
  pawl.end_insert()
  pawl.lease_seq(@name, XLOCK)
END;
SELECT @held = l.holder, @ends = l.lease_until_utc FROM pawl.lease l WITH (UPDLOCK, ROWLOCK) WHERE l.seq = @seq;
-- The clock is read only now: a lease is whole however long the lock took (D-63).
SET @now = SYSUTCDATETIME();
IF (@held IS NULL OR @held = @holder OR @ends IS NULL OR @ends <= @now) AND pawl.ahead(@name, @holder) = 0
BEGIN
  EXEC pawl.generation_look @mark OUTPUT, @number OUTPUT;
  SET @number = @number * 4096 + 1;
  SET @now = SYSUTCDATETIME();
  UPDATE pawl.lease
     SET owner = @owner, holder = @holder, last_granted_utc = @now, lease_until_utc = pawl.plus(@now, @lease),
         token = CASE WHEN holder = @holder THEN token WHEN token + 1 > @number THEN token + 1 ELSE @number END
   WHERE seq = @seq AND (holder IS NULL OR holder = @holder OR lease_until_utc <= @now);
  IF @@ROWCOUNT = 1
    SELECT @token = l.token, @until = l.lease_until_utc FROM pawl.lease l WHERE l.seq = @seq;
END;
pawl.end_own()
END
