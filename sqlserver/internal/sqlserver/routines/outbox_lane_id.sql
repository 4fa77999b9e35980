-- The lane of a queue at a priority, made known if it is new. For @kind see
-- outbox_lane.
CREATE PROCEDURE pawl.outbox_lane_id @queue nvarchar(510), @priority int, @lane bigint OUTPUT, @kind int = 0 AS
BEGIN
SET NOCOUNT ON;
SET @lane = NULL;
SELECT @lane = l.id FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = @kind AND l.priority = @priority;
IF @lane IS NOT NULL RETURN;
SET @lane = pawl.outbox_lane_number(@queue, @priority, @kind);
EXEC pawl.outbox_lane_put @lane, @queue, @priority, @kind;
END
