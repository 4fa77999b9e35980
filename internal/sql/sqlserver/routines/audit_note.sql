-- Put @n on the account of an act. Whoever acts adds to the trail by this alone, and can
-- change nothing in it. Without an id nothing is noted, nor where nothing changed.
CREATE PROCEDURE pawl.audit_note @id uniqueidentifier, @actor nvarchar(510), @action nvarchar(510), @target nvarchar(max), @reason nvarchar(max), @n bigint AS
BEGIN
IF @id IS NULL OR coalesce(@n, 0) <= 0 RETURN 0;
pawl.begin_own()
WHILE 1 = 1
BEGIN
  IF EXISTS (SELECT 1 FROM pawl.audit_trail a WITH (UPDLOCK) WHERE a.id = @id)
  BEGIN
    UPDATE pawl.audit_trail SET n = n + @n WHERE id = @id AND actor = @actor AND action = @action AND target = @target;
    BREAK;
  END;
  pawl.begin_insert()
  INSERT INTO pawl.audit_trail (id, actor, action, target, reason, n) VALUES (@id, @actor, @action, @target, @reason, @n);
  pawl.end_insert()
  IF @known = 0 BREAK; -- otherwise it is there since the look
END;
pawl.end_own()
RETURN 0;
END
