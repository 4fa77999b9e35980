-- Cancel a timer that is pending; @carried is the position that its id carries, or 0.
-- Returns 1, or 0 if it is not pending.
CREATE PROCEDURE pawl.timer_cancel_at @timer uniqueidentifier, @carried bigint AS
BEGIN
SET NOCOUNT ON;
UPDATE pawl.timer SET status = 4, processed_at = SYSUTCDATETIME() WHERE id = pawl.whereabouts(@timer, @carried) AND status = 0;
RETURN @@ROWCOUNT;
END
