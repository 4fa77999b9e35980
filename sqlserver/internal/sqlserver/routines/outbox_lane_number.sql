-- The number of a queue at a priority, whose name it is; those of lanes of kinds 1 and 2, see
-- outbox_lane, are named ordered and waiting.
CREATE FUNCTION pawl.outbox_lane_number(@queue nvarchar(510), @priority int, @kind int) RETURNS bigint AS
BEGIN
RETURN pawl.outbox_lane_hash(@queue, CASE @kind WHEN 0 THEN CAST(@priority AS varchar(11)) WHEN 1 THEN 'ordered' ELSE 'waiting' END);
END
