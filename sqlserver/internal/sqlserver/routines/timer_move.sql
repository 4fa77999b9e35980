-- Let a pending timer fire at another time, null for now; @carried is the position that its
-- id carries, or 0. Returns 1, or 0 if it is not pending.
CREATE PROCEDURE pawl.timer_move @timer uniqueidentifier, @carried bigint, @due datetime2(7) AS
BEGIN
SET NOCOUNT ON;
SET @due = coalesce(@due, SYSUTCDATETIME());
UPDATE pawl.timer SET due_time = @due, at = @due WHERE id = pawl.whereabouts(@timer, @carried) AND status = 0;
RETURN @@ROWCOUNT;
END
