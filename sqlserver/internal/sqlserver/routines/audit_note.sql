-- Add @n to the entry of an action. Callers add to the trail only through this, under the name that
-- their session logged in by, and change none of its entries: an action that takes several transactions
-- adds to its own, of the same user, for an hour. Without an id nothing is recorded, nor where nothing
-- changed.
CREATE PROCEDURE pawl.audit_note @id uniqueidentifier, @actor nvarchar(510), @action nvarchar(510), @target nvarchar(max), @reason nvarchar(max), @n bigint AS
BEGIN
IF @id IS NULL OR coalesce(@n, 0) <= 0 RETURN 0;
pawl.begin_own()
WHILE 1 = 1
BEGIN
  IF EXISTS (SELECT 1 FROM pawl.audit_trail a WITH (UPDLOCK) WHERE a.id = @id)
  BEGIN
    UPDATE pawl.audit_trail SET n = n + @n
     WHERE id = @id AND actor = @actor AND db_user = ORIGINAL_LOGIN() AND action = @action AND target = @target AND at > DATEADD(hour, -1, SYSUTCDATETIME());
    IF @@ROWCOUNT = 1 BREAK;
    SET @id = NEWID();
  END;
  pawl.begin_insert()
  INSERT INTO pawl.audit_trail (id, actor, action, target, reason, n) VALUES (@id, @actor, @action, @target, @reason, @n);
  pawl.end_insert()
  IF @known = 0 BREAK; -- otherwise it is there since the look
END;
pawl.end_own()
RETURN 0;
END
