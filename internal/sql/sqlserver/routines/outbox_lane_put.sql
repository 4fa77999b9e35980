-- Make a lane known. Of two sessions that do so at once the second waits, and finds it
-- known. Returns 1 if it is new.
CREATE PROCEDURE pawl.outbox_lane_put @id bigint, @queue nvarchar(510), @priority int AS
BEGIN
SET NOCOUNT ON;
IF EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = @id) RETURN 0;
INSERT INTO pawl.outbox_lane (id, queue, priority)
SELECT @id, @queue, @priority
 WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WITH (UPDLOCK, HOLDLOCK) WHERE l.id = @id)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_lane l WITH (UPDLOCK, HOLDLOCK) WHERE l.queue = @queue AND l.priority = @priority);
RETURN @@ROWCOUNT;
END
