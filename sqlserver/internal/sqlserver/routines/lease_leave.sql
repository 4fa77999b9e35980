-- Leave the line. Returns 1, or 0 if the waiter was not in it.
CREATE PROCEDURE pawl.lease_leave @name nvarchar(510), @waiter uniqueidentifier AS
BEGIN
DECLARE @seq bigint, @held uniqueidentifier, @ticket bigint, @got int;
pawl.begin_own()
pawl.lease_seq(@name, READCOMMITTED)
SELECT @held = l.holder FROM pawl.lease l WITH (UPDLOCK, ROWLOCK) WHERE l.seq = @seq;
SELECT @ticket = w.ticket FROM pawl.lease_waiter w WITH (FORCESEEK) WHERE w.id = @waiter;
DELETE FROM pawl.lease_waiter WHERE ticket = @ticket;
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
