-- Cancel a timer. Returns 1 if that means that it will never fire, and 0 if it fired or was
-- cancelled.
CREATE PROCEDURE pawl.timer_cancel @timer_id uniqueidentifier AS
BEGIN
DECLARE @got int, @carried bigint = pawl.carried(@timer_id), @target nvarchar(100) = CONCAT(N'timer ', LOWER(CONVERT(nvarchar(36), @timer_id)));
pawl.begin_own()
EXEC @got = pawl.timer_cancel_at @timer_id, @carried;
EXEC pawl.audit_own N'cancel', @target, @got;
pawl.end_own()
RETURN @got;
END
