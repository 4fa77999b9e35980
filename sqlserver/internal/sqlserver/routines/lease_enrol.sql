-- Enter the line, or say that one is still in it, for @alive microseconds. The lock puts a
-- release wholly before or wholly after, so that none goes unnoticed. Returns how many rows
-- changed: 0 if the lease is the waiter's by now.
CREATE PROCEDURE pawl.lease_enrol @name nvarchar(510), @waiter uniqueidentifier, @alive bigint AS
BEGIN
DECLARE @seq bigint, @held uniqueidentifier, @ticket bigint, @until datetime2(7), @got int = 0;
pawl.begin_own()
pawl.lease_seq(@name, READCOMMITTED)
SELECT @held = l.holder FROM pawl.lease l WITH (UPDLOCK, ROWLOCK) WHERE l.seq = @seq;
IF @held IS NULL OR @held <> @waiter
BEGIN
  SET @until = SYSUTCDATETIME();
  SET @until = pawl.plus(@until, @alive);
  SELECT @ticket = w.ticket FROM pawl.lease_waiter w WITH (FORCESEEK) WHERE w.id = @waiter;
  UPDATE pawl.lease_waiter SET alive_until = @until WHERE ticket = @ticket;
  SET @got = @@ROWCOUNT;
  IF @got = 0
  BEGIN
    INSERT INTO pawl.lease_waiter (name, id, alive_until) VALUES (@name, @waiter, @until);
    SET @got = 1;
  END;
END;
pawl.end_own()
RETURN @got;
END
