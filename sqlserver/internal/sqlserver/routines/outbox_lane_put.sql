-- Make a lane known. Of two sessions that do so at once the second waits, and finds it
-- known. Returns 1 if it is new.
CREATE PROCEDURE pawl.outbox_lane_put @id bigint, @queue nvarchar(510), @priority int, @kind int = 0, @topic nvarchar(510) = N'' AS
BEGIN
SET NOCOUNT ON;
DECLARE @new int = 0;
IF EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = @id) RETURN 0;
pawl.begin_insert()
INSERT INTO pawl.outbox_lane (id, queue, priority, kind, topic)
SELECT @id, @queue, @priority, @kind, @topic
 WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = @id)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = @kind AND l.priority = @priority AND l.apart = CASE @kind WHEN 3 THEN @id ELSE 0 END);
SET @new = @@ROWCOUNT;
pawl.end_insert()
RETURN @new;
END
