-- Pause a queue or topic: @lane is where the topic's messages are laid aside. Returns 1, or
-- 0 if it is paused. Of two that pause at once the second waits, and finds it paused.
CREATE PROCEDURE pawl.pause_put @kind nvarchar(20), @name nvarchar(510), @lane bigint, @actor nvarchar(510), @reason nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @seen bit, @now datetime2(7);
pawl.begin_own()
SELECT @seen = 1 FROM pawl.outbox_pause p WITH (UPDLOCK) WHERE p.kind = @kind AND pawl.exactly(p.name, @name);
IF @seen = 1
BEGIN
  SET @now = SYSUTCDATETIME();
  UPDATE pawl.outbox_pause SET ending = 0, at = @now, reason = @reason, actor = @actor WHERE kind = @kind AND pawl.exactly(name, @name) AND ending = 1;
  SET @got = @@ROWCOUNT;
END
ELSE
BEGIN
  pawl.begin_insert()
  INSERT INTO pawl.outbox_pause (kind, name, lane, reason, actor) VALUES (@kind, @name, @lane, @reason, @actor);
  SET @got = 1;
  pawl.end_insert()
END;
pawl.end_own()
RETURN @got;
END
