-- Do the next step of a bulk act, if one is due and nobody else does it, and note what it
-- changed, and the end. It looks at @look failed messages and changes up to @most of them.
-- Returns 1, or 0.
CREATE PROCEDURE pawl.outbox_bulk_step @id uniqueidentifier, @look int, @most bigint, @note_id uniqueidentifier, @note_actor nvarchar(510), @note_target nvarchar(max), @note_reason nvarchar(max) AS
BEGIN
DECLARE @now datetime2(7), @action nvarchar(20), @ids nvarchar(max), @topic nvarchar(510), @queue nvarchar(510), @error nvarchar(max), @since datetime2(7), @before datetime2(7),
  @room bigint, @rate int, @target nvarchar(max), @actor nvarchar(510), @reason nvarchar(max), @after bigint, @got bigint, @last bigint, @over bit = 0, @wait bigint = 0, @found int, @fingerprint nvarchar(400), @ended bigint;
pawl.begin_own()
SELECT @action = b.action, @ids = b.ids, @topic = b.topic, @queue = b.queue, @error = b.error, @since = b.failed_since, @before = b.failed_before, @room = b.most - b.n,
    @rate = b.rate, @target = b.target, @actor = b.actor, @reason = b.reason, @after = b.last, @fingerprint = b.fingerprint
  FROM pawl.outbox_bulk b WITH (UPDLOCK, ROWLOCK) WHERE b.id = @id AND b.ended_at IS NULL AND b.at <= SYSUTCDATETIME();
SET @found = @@ROWCOUNT;
IF @found > 0
BEGIN
  IF @rate > 0 AND @rate < @most SET @most = @rate;
  IF @room < @most SET @most = @room;
  EXEC pawl.outbox_dead @action, @ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @got OUTPUT, @last OUTPUT, @ended OUTPUT, @fingerprint, 0, NULL, @id;
  IF @last IS NULL OR @got >= @room SET @over = 1;
  IF @rate > 0 SET @wait = @got * 1000000 / @rate;
  SET @now = SYSUTCDATETIME();
  UPDATE pawl.outbox_bulk SET n = n + @got, last = coalesce(@last, last), stepped_at = @now, ended_at = CASE WHEN @over = 1 THEN @now END, at = pawl.plus(@now, @wait) WHERE id = @id;
  EXEC pawl.audit_note @id, @actor, @action, @target, @reason, @got;
  IF @over = 1 EXEC pawl.audit_note @note_id, @note_actor, N'end', @note_target, @note_reason, 1;
END;
pawl.end_own()
RETURN @found;
END
